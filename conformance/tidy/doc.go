// Package tidy holds the tree to its own manners: who imports whom, what the pure rooms may not
// touch, how long things may get. It is tests only.
//
// Each rule is a function from a tree to findings, and carries plants: small trees that break it.
// A test plants them and sees them caught, because a check that cannot fail is worthless. What a
// rule must let pass for now stands in exceptions_test.go with its reason; an exception that is no
// longer needed fails the test, so the list only shrinks.
//
// Start reading at rules_test.go.
package tidy
