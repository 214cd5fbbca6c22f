/// Finds the coding paths of values, for errors and for types that request their coding path.
///
/// While values are read, no paths are recorded. A path is found by walking the document from the root. If paths are
/// requested often, a table is built. For example, a type that tries several forms for each element of a long array
/// requests many paths.
struct TapePathFinder {
  /// A step of a path: the container, and the position of the value in the container.
  struct Step {
    let container: Int
    let number: Int
    /// The index of the value in the parsed document.
    let value: Int
  }

  /// The maximum number of walks through the document before a table is built.
  private static let mostWalks = 16

  private var walks = 0
  /// For the index of each value: the value's container, and the value's position in the container.
  private var table: [(container: UInt32, number: UInt32)] = []

  /// The steps of the path from the root to a value.
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
