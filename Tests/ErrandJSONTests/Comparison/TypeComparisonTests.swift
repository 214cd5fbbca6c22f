import ErrandJSON
import Foundation
import Testing

/// Compares how Foundation's decoder and `.fast` read many kinds of types.
struct TypeComparisonTests {
  enum Metal: String, Decodable { case gold, iron }
  enum Level: Int, Decodable { case low = 1, high }
  enum Share: Double, Decodable { case half = 0.5, whole = 1 }

  @Test(arguments: ["\"gold\"", "\"tin\"", "\"\"", "1", "2", "3", "0.5", "1.0", "true", "null", "[]", "{}"])
  func `raw values are matched`(text: String) {
    expectAlikeEverywhere(Metal.self, text)
    expectAlikeEverywhere(Level.self, text)
    expectAlikeEverywhere(Share.self, text)
  }

  enum Figure: Decodable, Equatable {
    case circle(radius: Double)
    case dot
    case pair(Int, Int?)
    case group([Figure])
    case named(_ name: String, size: Int = 7)
  }

  @Test(arguments: [
    #"{"circle":{"radius":1}}"#, #"{"dot":{}}"#, #"{"dot":{"x":1}}"#, #"{"pair":{"_0":1,"_1":2}}"#,
    #"{"pair":{"_0":1}}"#,
    #"{"group":{"_0":[{"dot":{}},{"circle":{"radius":2}}]}}"#, #"{"named":{"_0":"a"}}"#,
    #"{"named":{"_0":"a","size":1}}"#,
    "{}", #"{"dot":{},"circle":{"radius":1}}"#, #"{"dot":{},"more":1}"#, #"{"zzz":{}}"#, #"{"circle":{}}"#,
    #"{"circle":null}"#, #"{"dot":null}"#, #"{"circle":[]}"#, "\"dot\"", #"{"circle":{"radius":"1"}}"#,
    #"{"group":{"_0":[{"circle":{}}]}}"#, "null", "[]",
  ]) func `enumeration payloads are read`(text: String) {
    expectAlike(Figure.self, text)
    expectAlike([Figure].self, "[\(text)]")
    expectAlike(JSONBox<Figure?>.self, "{\"value\":\(text)}")
  }

  class Animal: Decodable {
    let name: String
    var told: String { name }
  }

  final class Dog: Animal {
    let tricks: [String]
    enum CodingKeys: CodingKey { case tricks }
    override var told: String { "\(name) \(tricks)" }

    required init(from decoder: any Decoder) throws {
      let object = try decoder.container(keyedBy: CodingKeys.self)
      tricks = try object.decode([String].self, forKey: .tricks)
      try super.init(from: object.superDecoder())
    }
  }

  final class Cat: Animal {
    let lives: Int
    enum CodingKeys: CodingKey { case lives }
    override var told: String { "\(name) \(lives)" }

    required init(from decoder: any Decoder) throws {
      lives = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .lives)
      try super.init(from: decoder)
    }
  }

  @Test func `subclasses read their superclass`() {
    expectSame(Animal.self, #"{"name":"a"}"#, seenAs: \.told)
    expectSame(Cat.self, #"{"name":"a","lives":7}"#, seenAs: \.told)
    expectSame(Dog.self, #"{"tricks":["x"],"super":{"name":"a"}}"#, seenAs: \.told)
    expectSame([Dog].self, #"[{"super":{"name":"a"},"tricks":[]}]"#) { $0.map(\.told) }
    expectSameFailure(Cat.self, #"{"lives":7}"#)
    expectSameFailure([Cat].self, #"[{"name":"a","lives":"x"}]"#)
    expectSameFailure(Dog.self, #"{"tricks":["x"],"name":"a"}"#)
    expectSameFailure([Dog].self, #"[{"tricks":["x"],"super":{"name":1}}]"#)
    expectSameFailure([Dog].self, #"[{"tricks":["x"],"super":null}]"#)
    expectSameFailure(Dog.self, #"{"tricks":["x"],"super":[]}"#)
  }

  /// Decodes a class by the metatype of its subclass.
  struct Kennel: Decodable {
    let told: [String]

    init(from decoder: any Decoder) throws {
      let type: Animal.Type = Cat.self
      var list = try decoder.unkeyedContainer()
      let first = try list.decode(type)
      let second = try list.superDecoder().singleValueContainer().decode(type)
      let third = try list.nestedContainer(keyedBy: Key.self).decode(type, forKey: .cat)
      told = [first.told, second.told, third.told]
    }

    enum Key: CodingKey { case cat }
  }

  @Test func `metatype determines the class`() throws {
    let cat = #"{"name":"a","lives":7}"#
    expectSame(Kennel.self, #"[\#(cat),\#(cat),{"cat":\#(cat)}]"#, seenAs: \.told)
    expectSameFailure(Kennel.self, #"[{"name":"a","lives":"x"}]"#)
    expectSameFailure(Kennel.self, #"[\#(cat),{"name":"a","lives":1.5}]"#)
    let type: Animal.Type = Cat.self
    for decoding in [JSONDecoding.standard, .fast] {
      #expect(try decoding.decode(type, from: Data(cat.utf8)).told == "a 7")
      #expect(try decoding.decode(type, from: Data(#"{"x":\#(cat)}"#.utf8), at: "x").told == "a 7")
    }
  }

  struct Node: Decodable, Equatable { let name: String, kids: [Node]?, more: [String: Node]? }
  final class Link: Decodable {
    let value: Int
    let next: Link?
    var values: [Int] { [value] + (next?.values ?? []) }
  }
  indirect enum Tree: Decodable, Equatable { case leaf(Int), branch(Tree, Tree) }

  @Test func `recursive types are read`() {
    let text =
      #"{"name":"a","kids":[{"name":"b"},{"name":"c","kids":[]}],"more":{"x":{"name":"d","kids":[{"name":"e"}]}}}"#
    expectSame(Node.self, text)
    expectSame([Node].self, "[\(text),\(text)]")
    expectSame(Link.self, #"{"value":1,"next":{"value":2,"next":{"next":null,"value":3}}}"#, seenAs: \.values)
    expectSame(
      Tree.self, #"{"branch":{"_0":{"leaf":{"_0":1}},"_1":{"branch":{"_0":{"leaf":{"_0":2}},"_1":{"leaf":{"_0":3}}}}}}"#
    )
    expectSameFailure(Node.self, #"{"name":"a","kids":[{"name":"b"},{"name":"c","kids":[{}]}]}"#)
    expectSameFailure(Node.self, #"{"name":"a","more":{"x":{"name":"b","kids":[{"name":7}]}}}"#)
    expectSameFailure(Link.self, #"{"value":1,"next":{"value":2,"next":{"next":null}}}"#)
  }

  @propertyWrapper struct Clamped: Decodable, Equatable {
    var wrappedValue: Int
    init(wrappedValue: Int) { self.wrappedValue = wrappedValue }
    init(from decoder: any Decoder) throws {
      wrappedValue = min(max(try decoder.singleValueContainer().decode(Int.self), 0), 10)
    }
  }
  @propertyWrapper struct Lossy<Element: Decodable & Equatable>: Decodable, Equatable {
    var wrappedValue: [Element]
    init(wrappedValue: [Element]) { self.wrappedValue = wrappedValue }
    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      wrappedValue = []
      while !list.isAtEnd {
        let element = try list.superDecoder()
        if let value = try? element.singleValueContainer().decode(Element.self) { wrappedValue.append(value) }
      }
    }
  }
  struct Wrapped: Decodable, Equatable {
    @Clamped var level: Int
    @Lossy var names: [String]
    @Lossy var boxes: [JSONBox<Int>]
  }

  @Test func `property wrappers are read`() {
    expectSame(
      Wrapped.self, #"{"level":12,"names":["a",1,null,"b"],"boxes":[{"value":1},{},{"value":"x"},[],{"value":2}]}"#)
    expectSame(Wrapped.self, #"{"boxes":[],"names":[],"level":-3}"#)
    expectSameFailure(Wrapped.self, #"{"level":"x","names":[],"boxes":[]}"#)
    expectSameFailure(Wrapped.self, #"{"level":1,"names":{},"boxes":[]}"#)
    expectSameFailure(Wrapped.self, #"{"level":1,"boxes":[]}"#)
  }

  struct Page<Item: Decodable & Equatable>: Decodable, Equatable { let items: [Item], next: Item?, total: Int }
  struct Envelope<Body: Decodable & Equatable>: Decodable, Equatable { let code: Int, message: String?, data: Body? }

  @Test func `generic types are read`() {
    expectSame(Page<Int>.self, #"{"items":[1,2],"next":3,"total":2}"#)
    expectSame(Page<Page<String>>.self, #"{"items":[{"items":["a"],"total":1}],"total":1}"#)
    expectSame(Envelope<Page<[String: Int]>>.self, #"{"code":0,"data":{"items":[{"a":1}],"next":{},"total":1}}"#)
    expectSame(Envelope<[Int]>.self, #"{"code":5,"message":"no","data":null}"#)
    expectSameFailure(Envelope<Page<Int>>.self, #"{"code":0,"data":{"items":[1,"x"],"total":1}}"#)
    expectSameFailure(
      Envelope<Page<Envelope<Int>>>.self, #"{"code":0,"data":{"items":[{"code":0,"data":""}],"total":1}}"#)
  }

  struct Tagged: Decodable, Equatable {
    let kind: String
    let body: String
    enum CodingKeys: String, CodingKey { case kind = "@type", body }
    enum Inner: String, CodingKey { case text = "#text" }
    init(from decoder: any Decoder) throws {
      let object = try decoder.container(keyedBy: CodingKeys.self)
      kind = try object.decode(String.self, forKey: .kind)
      let inner = try object.nestedContainer(keyedBy: Inner.self, forKey: .body)
      body = try inner.decode(String.self, forKey: .text)
    }
  }

  @Test func `renamed and flattened keys are read`() {
    expectSame([Tagged].self, ##"[{"body":{"#text":"b"},"@type":"a"}]"##)
    expectSameFailure([Tagged].self, ##"[{"body":{"text":"b"},"@type":"a"}]"##)
    expectSameFailure([Tagged].self, ##"[{"body":null,"@type":"a"}]"##)
    expectSameFailure([Tagged].self, ##"[{"@type":"a"}]"##)
    expectSameFailure([Tagged].self, ##"[{"body":{"#text":1},"@type":"a"}]"##)
  }

  @Test func `ranges and vectors are read from arrays`() {
    expectSame([ClosedRange<Int>].self, "[[1,5]]")
    expectSame(Range<Double>.self, "[1,1.5]")
    expectSameFailure(ClosedRange<Int>.self, "[5,1]")
    expectSameFailure([ClosedRange<Int>].self, "[[1]]")
    expectSame(SIMD2<Double>.self, "[1,2]")
    expectSameFailure([SIMD2<Double>].self, "[[1]]")
    expectSame(CGSize.self, "[1,2.5]")
  }
}
