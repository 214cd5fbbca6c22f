/// A type that is generated for a schema.
final class Model {
  struct Property {
    let key: String
    let name: String
    var type: TypeUse
    /// Whether the property is sent as null if its value is nil.
    let isRequired: Bool
    /// Whether the property is required, but only in requests or only in responses.
    let isOneWay: Bool
    let doc: [String]
    /// Whether the value is stored outside of the struct, because the struct contains itself.
    var isIndirect = false
    /// The value that chooses this struct among the types of a union, if the property has only this one there.
    var tag: String?
  }

  /// A case of an enumeration with values of several types.
  struct UnionCase {
    let name: String
    let type: TypeUse
    /// The values of the discriminator for this case.
    let tags: [String]
    /// The order in which cases are tried: the most specific one first.
    let rank: Int
    /// Whether the case is the schema itself whose subtypes are the other cases. It may omit the discriminator.
    var isBase = false
  }

  enum Kind {
    case object([Property], additional: TypeUse?)
    case enumeration(Builtin, [String])
    case union([UnionCase], discriminator: String?)
  }

  let name: String
  let doc: [String]
  let parent: Model?
  var kind = Kind.object([], additional: nil)
  var nested: [Model] = []
  /// Whether an enumeration contains itself.
  var isIndirect = false
  /// Whether a union without a discriminator tries to read this model.
  var isTried = false

  init(_ name: String, doc: [String], parent: Model? = nil) {
    self.name = name
    self.doc = doc
    self.parent = parent
  }

  var all: [Model] { [self] + nested.flatMap(\.all) }

  /// The models whose values are stored inside a value of this model.
  var contained: [Model] {
    switch kind {
    case .object(let properties, _): properties.compactMap(\.type.containedModel)
    case .union(let cases, _): cases.compactMap(\.type.containedModel)
    case .enumeration: []
    }
  }
}

indirect enum TypeUse {
  case builtin(Builtin)
  case model(Model)
  case array(TypeUse)
  case map(TypeUse)
  case optional(TypeUse)

  var text: String { written { $0.name } }

  /// The type as it is written where `name` names the models.
  func written(_ name: (Model) -> String) -> String {
    switch self {
    case .builtin(let builtin): builtin.rawValue
    case .model(let model): name(model)
    case .array(let element): "[\(element.written(name))]"
    case .map(let value): "[String: \(value.written(name))]"
    case .optional(let wrapped): "\(wrapped.written(name))?"
    }
  }

  var wrapped: TypeUse { if case .optional(let wrapped) = self { wrapped.wrapped } else { self } }
  /// The type if null is not allowed, neither as the value nor as an element of a list: a parameter cannot be null.
  var withoutNull: TypeUse {
    switch wrapped {
    case .array(let element): .array(element.withoutNull)
    case let type: type
    }
  }
  var isOptional: Bool { if case .optional = self { true } else { false } }
  var asOptional: TypeUse { isOptional ? self : .optional(self) }

  /// The number of lists, dictionaries and optionals around the innermost type.
  var height: Int {
    switch self {
    case .builtin, .model: 0
    case .array(let type), .map(let type), .optional(let type): type.height + 1
    }
  }

  var containedModel: Model? { if case .model(let model) = wrapped { model } else { nil } }

  /// Whether the value is listed, and by values of which type.
  var rawType: Builtin? {
    if case .model(let model) = self, case .enumeration(let raw, _) = model.kind { raw } else { nil }
  }

  /// Whether a value can be a parameter in each place. Objects can only be parameters in the query.
  var isArgument: Bool {
    switch self {
    case .builtin(let builtin): builtin != .json && builtin != .data
    case .model: rawType != nil
    case .map: false
    case .array(let type), .optional(let type): type.isArgument
    }
  }
}

extension [Model] {
  /// Makes sure that no struct and no enumeration contains itself without an indirection. An enumeration on a cycle
  /// becomes indirect, and a property of a struct that closes a cycle is stored outside of the struct.
  func breakCycles() {
    let all = flatMap(\.all)
    let groups = CycleFinder.groups(all) { $0.contained }
    for model in all {
      guard case .union = model.kind, let group = groups[ObjectIdentifier(model)] else { continue }
      let isOnCycle = model.contained.contains { groups[ObjectIdentifier($0)] == group }
      if isOnCycle { model.isIndirect = true }
    }
    let rest = CycleFinder.groups(all) { $0.isIndirect ? [] : $0.contained }
    for model in all {
      guard case .object(var properties, let additional) = model.kind else { continue }
      for index in properties.indices {
        guard let target = properties[index].type.containedModel, !target.isIndirect else { continue }
        properties[index].isIndirect = rest[ObjectIdentifier(target)] == rest[ObjectIdentifier(model)]
      }
      model.kind = .object(properties, additional: additional)
    }
  }
}

extension [Model] {
  /// Finds the properties that are discriminators. A property gets its value if all unions that contain its struct
  /// agree.
  func setTags() {
    var uses: [ObjectIdentifier: [(key: String, tag: String?)]] = [:]
    for model in self {
      guard case .union(let cases, let key?) = model.kind else { continue }
      for item in cases {
        guard case .model(let target) = item.type else { continue }
        uses[ObjectIdentifier(target), default: []].append((key, item.tags.count == 1 ? item.tags[0] : nil))
      }
    }
    for model in self {
      guard case .object(var properties, let additional) = model.kind else { continue }
      for index in properties.indices {
        let key = properties[index].key
        let tags = (uses[ObjectIdentifier(model)] ?? []).filter { $0.key == key }.map(\.tag)
        guard let first = tags.first, tags.allSatisfy({ $0 == first }) else { continue }
        properties[index].tag = first
      }
      model.kind = .object(properties, additional: additional)
    }
  }
}

/// Finds the groups of models that contain each other (the strongly connected components of a graph, by Tarjan's
/// method). It needs no recursion, so the number of models is not limited by the stack. The time is linear.
private struct CycleFinder {
  private var index: [ObjectIdentifier: Int] = [:]
  private var low: [ObjectIdentifier: Int] = [:]
  private var group: [ObjectIdentifier: Int] = [:]
  private var open: [ObjectIdentifier] = []

  static func groups(_ models: [Model], _ edges: (Model) -> [Model]) -> [ObjectIdentifier: Int] {
    var finder = CycleFinder()
    for model in models where finder.index[ObjectIdentifier(model)] == nil { finder.visit(model, edges) }
    return finder.group
  }

  private mutating func visit(_ first: Model, _ edges: (Model) -> [Model]) {
    var stack: [(id: ObjectIdentifier, rest: ArraySlice<Model>)] = [enter(first, edges)]
    while let top = stack.last {
      guard let next = top.rest.first else {
        stack.removeLast()
        close(top.id)
        if let parent = stack.last { low[parent.id] = min(low[parent.id] ?? 0, low[top.id] ?? 0) }
        continue
      }
      stack[stack.count - 1].rest.removeFirst()
      let id = ObjectIdentifier(next)
      if let place = index[id] {
        if group[id] == nil { low[top.id] = min(low[top.id] ?? 0, place) }
      } else {
        stack.append(enter(next, edges))
      }
    }
  }

  private mutating func enter(_ model: Model, _ edges: (Model) -> [Model]) -> (ObjectIdentifier, ArraySlice<Model>) {
    let id = ObjectIdentifier(model)
    let place = index.count
    (index[id], low[id]) = (place, place)
    open.append(id)
    return (id, edges(model)[...])
  }

  private mutating func close(_ id: ObjectIdentifier) {
    guard low[id] == index[id], let number = index[id] else { return }
    while let last = open.popLast() {
      group[last] = number
      if last == id { return }
    }
  }
}
