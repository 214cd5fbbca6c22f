/// Finds the way to values of a document, for errors and for those who ask.
///
/// Nothing is kept while values are read. The way is found by walking from the root; where it is asked for often, such as
/// by a type that tries one form after the other in each element of a long array, a table is made.
struct TapePlaces {
  /// A step on the way: the container, and the number of the element in it.
  struct Step {
    let container: Int
    let number: Int
    /// The index of the value.
    let value: Int
  }

  /// How often the way is walked before a table is made.
  private static let mostWalks = 16

  private var walks = 0
  /// For each index of a value the container that it is in and its number there.
  private var table: [(container: UInt32, number: UInt32)] = []

  /// The steps from the root to a value.
  mutating func steps(to index: Int, in document: JSONDocument) -> [Step] {
    walks += 1
    if walks > Self.mostWalks, table.isEmpty { table = Self.table(of: document) }
    return table.isEmpty ? Self.walk(to: index, in: document) : lookUp(index)
  }

  private func lookUp(_ index: Int) -> [Step] {
    var steps: [Step] = []
    var index = index
    while index > 0 {
      let (container, number) = table[index]
      steps.append(Step(container: Int(container), number: Int(number), value: index))
      index = Int(container)
    }
    return steps.reversed()
  }

  private static func walk(to index: Int, in document: JSONDocument) -> [Step] {
    var steps: [Step] = []
    var container = 0
    while container < index {
      var number = 0
      let isObject = document.word(container).isObject
      var value = container + (isObject ? 3 : 2)
      while document.end(of: value) <= index {
        value = document.end(of: value) + (isObject ? 1 : 0)
        number += 1
      }
      steps.append(Step(container: container, number: number, value: value))
      container = value
    }
    return steps
  }

  private static func table(of document: JSONDocument) -> [(container: UInt32, number: UInt32)] {
    var table = [(container: UInt32, number: UInt32)](repeating: (0, 0), count: document.end(of: 0))
    var open: [(container: Int, next: Int)] = []
    var index = 0
    while index < table.count {
      while let last = open.last, index == document.end(of: last.container) { open.removeLast() }
      if let last = open.indices.last {
        if document.word(open[last].container).isObject { index += 1 }
        table[index] = (UInt32(open[last].container), UInt32(open[last].next))
        open[last].next += 1
      }
      if document.word(index).isContainer {
        open.append((index, 0))
        index += 2
      } else {
        index += 1
      }
    }
    return table
  }
}
