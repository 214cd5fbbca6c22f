@testable import ErrandJSON
import Foundation

extension EncodingSample {
  static let containers: [EncodingSample] = [
    EncodingSample("a struct", Encoded.Person()),
    EncodingSample("structs in it", Encoded.Person(friends: [.init(), .init()])),
    EncodingSample("a payload with a name", Encoded.Shape.circle(radius: 2)),
    EncodingSample("payloads", [Encoded.Shape.square(3), .point, .circle(radius: 0.5)]),
    EncodingSample("a subclass in its superclass' container", Encoded.Dog()),
    EncodingSample("a superclass with a separate encoder", Encoded.Cat()),
    EncodingSample("cats", [Encoded.Cat(), Encoded.Cat()]),
    EncodingSample("an object without members", Encoded.object { _ in }),
    EncodingSample("an array without elements", Encoded.array { _ in }),
    EncodingSample("nothing as an element", [Encoded.nothing]),
    EncodingSample("nothing as a member", ["a": Encoded.nothing]),
    EncodingSample("nothing in a single value container", Encoded.single { try $0.encode(Encoded.nothing) }),
    EncodingSample("null", Encoded.single { try $0.encodeNil() }),
    EncodingSample("null as a member", Encoded.object { try $0.encodeNil(forKey: .a) }),
    EncodingSample("null as an element", Encoded.array { try $0.encodeNil() }),
    EncodingSample(
      "present or not",
      Encoded.object { container in
        try container.encodeIfPresent(1, forKey: .a)
        try container.encodeIfPresent(String?.none, forKey: .b)
        try container.encodeConditional(Encoded.Animal(), forKey: .c)
      }),
    EncodingSample(
      "elements of every type",
      Encoded.array { container in
        try container.encode(true)
        try container.encode("a")
        try container.encode(1.5)
        try container.encode(Float(2.5))
        try container.encode(UInt64.max)
        try container.encode(contentsOf: [1, 2, 3])
        try container.encode(contentsOf: [Encoded.Rank.low])
        try container.encode(container.count)
      }),
    EncodingSample(
      "single values of single values", Encoded.single { try $0.encode(Encoded.single { try $0.encode([1]) }) }),
    EncodingSample(
      "nested containers",
      Encoded.object { container in
        var inner = container.nestedContainer(keyedBy: Encoded.Keys.self, forKey: .a)
        try inner.encode(1, forKey: .a)
        var list = inner.nestedUnkeyedContainer(forKey: .b)
        try list.encode("x")
        var last = list.nestedContainer(keyedBy: Encoded.Keys.self)
        try last.encode([1.5], forKey: .c)
        var more = list.nestedUnkeyedContainer()
        try more.encode(list.count)
        try inner.encode(2, forKey: .c)
        try container.encode(Encoded.Person(), forKey: .b)
      }),
    EncodingSample(
      "empty nested containers",
      Encoded.object { container in
        _ = container.nestedContainer(keyedBy: Encoded.Keys.self, forKey: .a)
        _ = container.nestedUnkeyedContainer(forKey: .b)
      }),
    EncodingSample(
      "the same container requested twice",
      Encoded.By { encoder in
        var first = encoder.container(keyedBy: Encoded.Keys.self)
        try first.encode(1, forKey: .a)
        var second = encoder.container(keyedBy: AnyKey.self)
        try second.encode(2, forKey: AnyKey("other"))
        try first.encode(3, forKey: .b)
      }),
    EncodingSample("a super encoder without a value", Encoded.object { _ = $0.superEncoder() }),
    EncodingSample("a super encoder with one value", Encoded.object { try 5.encode(to: $0.superEncoder(forKey: .b)) }),
    EncodingSample(
      "a hundred members",
      Encoded.By { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        for index in 0..<100 { try container.encode(index, forKey: AnyKey("member \(index)")) }
      }),
    EncodingSample(
      "keys with escapes and accents",
      Encoded.object { container in
        for key in [Encoded.Keys.slash, .accent, .b] { try container.encode(key.stringValue, forKey: key) }
      }),
    EncodingSample(
      "places",
      Encoded.object { container in
        try container.encode([Encoded.place, Encoded.place], forKey: .a)
        try container.encode(["k": Encoded.place, "5": Encoded.place], forKey: .b)
        try container.encode(Encoded.single { try $0.encode(Encoded.place) }, forKey: .c)
        try Encoded.place.encode(to: container.superEncoder())
      }),
    EncodingSample(
      "places of containers",
      Encoded.object { container in
        var list = container.nestedUnkeyedContainer(forKey: .a)
        try list.encode(0)
        let inner = list.nestedContainer(keyedBy: Encoded.Keys.self)
        try container.encode((list.codingPath.count * 10 + inner.codingPath.count), forKey: .b)
      }),
    EncodingSample(
      "user info",
      Encoded.By { encoder in
        let key = CodingUserInfoKey(rawValue: "who")
        var container = encoder.singleValueContainer()
        try container.encode(key.flatMap { encoder.userInfo[$0] as? String })
      }
    ) { encoder in
      if let key = CodingUserInfoKey(rawValue: "who") { encoder.userInfo = [key: "Ada"] }
    },
    EncodingSample("511 nested arrays", Encoded.Nest(depth: 511)),
  ]

  /// Types that can only be written by an encoder that keeps all values in memory until the end.
  static let turns: [EncodingSample] = [
    EncodingSample(
      "two containers in alternation",
      Encoded.object { container in
        var first = container.nestedContainer(keyedBy: Encoded.Keys.self, forKey: .a)
        var second = container.nestedUnkeyedContainer(forKey: .b)
        try first.encode(1, forKey: .a)
        try second.encode(2)
        try first.encode(3, forKey: .b)
        try second.encode(4)
      }, isHandedOver: true),
    EncodingSample(
      "a container that is reopened",
      Encoded.object { container in
        var first = container.nestedContainer(keyedBy: Encoded.Keys.self, forKey: .a)
        try container.encode(1, forKey: .b)
        try first.encode(3, forKey: .b)
      }, isHandedOver: true),
    EncodingSample(
      "the same key twice",
      Encoded.object { container in
        try container.encode(1, forKey: .a)
        try container.encode("x", forKey: .b)
        try container.encode([2], forKey: .a)
      }, isHandedOver: true),
    EncodingSample(
      "a repeated key among many",
      Encoded.By { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        for index in 0..<100 { try container.encode(index, forKey: AnyKey("member \(index % 99)")) }
      }, isHandedOver: true),
    EncodingSample(
      "a canonically equivalent key",
      Encoded.By { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(1, forKey: AnyKey("\u{E9}"))
        try container.encode(2, forKey: AnyKey("e\u{301}"))
      }, isHandedOver: true),
    EncodingSample(
      "the same nested container twice",
      Encoded.object { container in
        var first = container.nestedContainer(keyedBy: Encoded.Keys.self, forKey: .a)
        try first.encode(1, forKey: .a)
        var second = container.nestedContainer(keyedBy: Encoded.Keys.self, forKey: .a)
        try second.encode(2, forKey: .b)
      }, isHandedOver: true),
    EncodingSample(
      "a super encoder kept for later",
      Encoded.object { container in
        let later = container.superEncoder()
        try container.encode(1, forKey: .a)
        try Encoded.Person().encode(to: later)
      }, isHandedOver: true),
    EncodingSample(
      "a super encoder in an array",
      Encoded.array { container in
        try container.encode(1)
        try Encoded.Person().encode(to: container.superEncoder())
      }, isHandedOver: true),
    EncodingSample(
      "an outer container written from inside",
      Encoded.By { encoder in
        var container = encoder.container(keyedBy: Encoded.Keys.self)
        try container.encode(Encoded.Meddler(outer: container), forKey: .a)
      }, isHandedOver: true),
    EncodingSample(
      "a container after an object as one value",
      Encoded.By { encoder in
        var single = encoder.singleValueContainer()
        try single.encode(["a": 1])
        var container = encoder.container(keyedBy: Encoded.Keys.self)
        try container.encode(2, forKey: .b)
      }, isHandedOver: true),
  ]
}
