import ErrandSupport
import ErrandCore

/// A list that any thread may add to: what tests note while calls run.
public final class Recorded<Element: Sendable>: Sendable {
  private let elements: Locked<[Element]>

  /// Makes a list.
  public init(_ elements: [Element] = []) { self.elements = Locked(elements) }

  /// What was noted, in order.
  public var all: [Element] { elements.withLock { $0 } }
  /// How much was noted.
  public var count: Int { elements.withLock { $0.count } }

  /// Notes something.
  public func append(_ element: Element) { elements.withLock { $0.append(element) } }

  /// Takes the first out; nil where there is none.
  public func takeFirst() -> Element? { elements.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
