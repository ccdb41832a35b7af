package planstore_test

import (
	"testing"

	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(_ *testing.T, b planstore.Bounds) planstore.Store { return planstore.NewMemory(b) }, nil, nil)
}
