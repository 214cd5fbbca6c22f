/// A value whose mutating members can be called inside an expectation.
final class Held<Value> {
  private(set) var value: Value

  init(_ value: Value) { self.value = value }

  @discardableResult
  func on<Result>(_ body: (inout Value) -> Result) -> Result { body(&value) }
}
