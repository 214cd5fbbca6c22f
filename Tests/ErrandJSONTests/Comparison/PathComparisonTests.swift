import ErrandJSON
import Foundation
import Testing

/// Compares how Foundation's decoder and `.fast` read values at paths.
struct PathComparisonTests {
  static let text = #"""
    {"code":0,"data":{"n":7,"s":"x","none":null,"list":["a",{"k":[1,2]},null],"a.b":{"":5},"user_name":"u","n":8,
    "on":true,"f":1.5,"big":300,"at":"2020-01-01T00:00:00Z"},"\u0065scaped":{"x":1}}
    """#
  static let paths: [JSONPath?] = [
    nil, "$", "data", "data.n", "data.s", "data.none", "data.list", "data.list[0]", "data.list[1]", "data.list[1].k",
    "data.list[1].k[1]", "data.list[2]", "data.list[3]", "data.list[9].x", "data[\"a.b\"]", "data[\"a.b\"][\"\"]",
    "data.nope",
    "data.nope.deeper[1]", "nope", "[0]", "data[0]", "data.n.x", "data.s[0]", "data.none.x", "data.none[0]",
    "data.list.k",
    "data.user_name", "data.userName", "code", "code.x", "escaped.x", "data.on", "data.f", "data.big", "data.at",
  ]

  private func expectSame<Value: Decodable & Equatable>(
    _ type: Value.Type, at path: JSONPath?, _ standard: JSONDecoding, _ fast: JSONDecoding,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let outcomes = [standard, fast].map { decoding in
      do throws(JSONDecodingError) {
        return "\(try decoding.decode(type, from: Data(Self.text.utf8), at: path))"
      } catch {
        return "\(error.kind): \(error)"
      }
    }
    #expect(outcomes[0] == outcomes[1], sourceLocation: sourceLocation)
  }

  private func expectSameOfAllTypes(at path: JSONPath?, _ standard: JSONDecoding, _ fast: JSONDecoding) {
    expectSame(Int.self, at: path, standard, fast)
    expectSame(Int?.self, at: path, standard, fast)
    expectSame(UInt8.self, at: path, standard, fast)
    expectSame(Double?.self, at: path, standard, fast)
    expectSame(Bool.self, at: path, standard, fast)
    expectSame(String.self, at: path, standard, fast)
    expectSame(String?.self, at: path, standard, fast)
    expectSame([Int].self, at: path, standard, fast)
    expectSame([String]?.self, at: path, standard, fast)
    expectSame(Date.self, at: path, standard, fast)
    expectSame(Date?.self, at: path, standard, fast)
    expectSame(Inner.self, at: path, standard, fast)
    expectSame(Inner?.self, at: path, standard, fast)
    expectSame(JSONBare<Int?>.self, at: path, standard, fast)
    expectSame(JSONValue.self, at: path, standard, fast)
  }

  struct Inner: Decodable, Equatable { let n: Int, s: String?, userName: String?, none: Int?, on: Bool? }

  @Test(arguments: paths) func `values at paths are the same`(path: JSONPath?) {
    expectSameOfAllTypes(at: path, .standard, .fast)
  }

  @Test(arguments: paths) func `strategies apply at paths`(path: JSONPath?) {
    expectSameOfAllTypes(
      at: path, JSONDecoding(dates: .iso8601, keys: .convertFromSnakeCase, data: .deferredToData),
      .fast(dates: .iso8601, keys: .convertFromSnakeCase, data: .deferredToData))
  }

  @Test(arguments: paths) func `key closures apply at paths`(path: JSONPath?) {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .custom {
      JSONName($0.last?.stringValue == "user_name" ? "userName" : $0.last?.stringValue ?? "")
    }
    expectSameOfAllTypes(at: path, JSONDecoding.foundation(decoder), .fast(by: decoder))
  }

  @Test func `decoders at paths have coding paths`() throws {
    let key = try #require(CodingUserInfoKey(rawValue: "look"))
    let decoder = JSONDecoder()
    decoder.userInfo[key] = JSONLook { notes, decoder in
      notes.note(decoder.codingPath)
      notes.note(try decoder.container(keyedBy: JSONName.self))
      notes.attempt { try decoder.container(keyedBy: JSONName.self).decode(String.self, forKey: "k") }
    }
    for path in ["data", "data.list[1]", "data[\"a.b\"]", "escaped"] as [JSONPath] {
      let views = try [JSONDecoding.foundation(decoder), .fast(by: decoder)].map { decoding in
        try decoding.decode(JSONView.self, from: Data(Self.text.utf8), at: path)
      }
      #expect(views[0] == views[1] && views[0].lines.count > 3, "\(path)")
    }
  }

  @Test(arguments: paths) func `type differences match Foundation's`(path: JSONPath?) {
    struct Other: Decodable { let n: String, list: [String], more: [Int], f: Double, userName: String }
    for decodings in [
      [JSONDecoding.standard, .fast], [JSONDecoding(keys: .convertFromSnakeCase), .fast(keys: .convertFromSnakeCase)],
    ] {
      let found = decodings.map { $0.differences(of: Other.self, in: Data(Self.text.utf8), at: path ?? .root) }
      #expect(found[0] == found[1])
    }
  }

  @Test func `errors for invalid text match at paths`() {
    for text in ["", " ", "{\"data\":", "{\"data\":1} x", "oops", "<html>\n<p>", "{\"data\":\"\\ud800\"}"] {
      let errors = [JSONDecoding.standard, .fast].map { decoding in
        #expect(throws: JSONDecodingError.self) { try decoding.decode(String.self, from: Data(text.utf8), at: "data") }
      }
      #expect(errors[0]?.description == errors[1]?.description && errors[0]?.kind == errors[1]?.kind, "\(text)")
    }
  }
}
