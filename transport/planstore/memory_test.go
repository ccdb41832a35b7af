package planstore_test

import (
	"testing"

	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(_ *testing.T, b planstore.Bounds) planstore.Store { return planstore.NewMemory(b) }, nil, nil)
}
