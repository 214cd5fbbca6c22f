/// A box for a value, so that its mutating members can be called inside an expectation.
package final class Held<Value> {
  package private(set) var value: Value

  package init(_ value: Value) { self.value = value }

  @discardableResult
  package func on<Result>(_ body: (inout Value) -> Result) -> Result { body(&value) }
}
