package app

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/winnow-llm/winnow/gateway"
)

// localAddress returns an address as a browser on this machine reaches it.
func localAddress(at net.Addr) string {
	tcp, ok := at.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return at.String()
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
}

// reachableFromOutside reports whether an address can be reached from other machines. One that
// cannot be read is refused later, with the reason.
func reachableFromOutside(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil || host == "localhost" {
		return false
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return !ip.Unmap().IsLoopback()
	}
	if host == "" {
		return true
	}
	found, err := net.DefaultResolver.LookupNetIP(context.Background(), "ip", host)
	return err == nil && slices.ContainsFunc(found, func(ip netip.Addr) bool { return !ip.Unmap().IsLoopback() })
}

// listenAndServe opens an address, prints what people are told of it, and serves it until
// the process is told to end.
func (a *app) listenAndServe(ctx context.Context, addr string, told func(net.Addr) string, serve func(context.Context, net.Listener) error) error {
	if _, port, err := net.SplitHostPort(addr); err != nil {
		return usageErrorf("--listen %s: write HOST:PORT, for example 127.0.0.1:8484", addr)
	} else if _, err := net.LookupPort("tcp", port); err != nil {
		return usageErrorf("--listen %s: %s is not a port; write a number from 0 to 65535", addr, port)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w; choose another address with --listen", addr, err)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if a.asJSON {
		err = a.printJSON(map[string]string{"address": told(l.Addr())})
	} else {
		_, err = fmt.Fprintln(a.stdout, told(l.Addr()))
	}
	if err != nil {
		_ = l.Close()
		return err
	}
	return serve(ctx, l)
}

// whereTo says how programs find a gateway: by the variables for the APIs that it
// reaches, or by the path of an upstream with another name.
func whereTo(base string, upstreams []gateway.Upstream) string {
	var ways []string
	for _, up := range upstreams {
		if up.Name == "chatgpt" || up.Name == "code-assist" { // chosen by the login
			continue
		}
		way := base + "/" + up.Name + "/"
		for _, b := range baseURLs {
			if b.upstream == up.Name {
				way = b.variable + "=" + base + b.suffix
				break // the first is what most read
			}
		}
		ways = append(ways, way)
	}
	return strings.Join(ways, " or ")
}
