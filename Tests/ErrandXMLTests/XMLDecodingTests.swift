import ErrandCore
import ErrandXML
import Foundation
import Testing

struct XMLDecodingTests {
  struct Catalog: Decodable, Equatable {
    struct Book: Decodable, Equatable {
      let id: String
      let title: String
      let price: Decimal
      let pages: Int?
      let author: [String]
    }

    let book: [Book]
    let issued: Date?
  }

  static let catalog = """
    <catalog xmlns="urn:books">
      <issued>1970-01-01T00:00:10Z</issued>
      <book id="1"><title>A &amp; B</title><price> 12.50 </price><author>x</author><author>y</author></book>
      <book id="2"><title/><price>3</price><pages>7</pages></book>
    </catalog>
    """

  class Animal: Decodable {
    let name: String
    var told: String { name }
  }

  final class Dog: Animal {
    let tricks: Int
    enum Key: CodingKey { case tricks }
    override var told: String { "\(name) \(tricks)" }

    required init(from decoder: any Decoder) throws {
      tricks = try decoder.container(keyedBy: Key.self).decode(Int.self, forKey: .tricks)
      try super.init(from: decoder)
    }
  }

  @Test func `metatype determines the class`() throws {
    let type: Animal.Type = Dog.self
    let dog = try XMLValue(parsing: Data("<dog><name>a</name><tricks>2</tricks></dog>".utf8))
    #expect(try XMLFormat().decode(type, from: dog).told == "a 2")
  }

  static func read<Value: Decodable>(
    _ text: String, as: Value.Type = Value.self, dates: XMLDates = .iso8601
  ) throws -> Value {
    try XMLFormat(dates: dates).decode(Value.self, from: try XMLValue(parsing: Data(text.utf8)))
  }

  static func failure<Value: Decodable>(_ text: String, as: Value.Type) -> FormatFailure? {
    do {
      _ = try read(text, as: Value.self)
      return nil
    } catch {
      return error as? FormatFailure
    }
  }

  @Test func `children and attributes are read`() throws {
    let price = try #require(Decimal(string: "12.5"))
    let first = Catalog.Book(id: "1", title: "A & B", price: price, pages: nil, author: ["x", "y"])
    let second = Catalog.Book(id: "2", title: "", price: 3, pages: 7, author: [])
    #expect(
      try Self.read(Self.catalog) == Catalog(book: [first, second], issued: Date(timeIntervalSince1970: 10)))
  }

  @Test func `child takes precedence over attribute`() throws {
    struct Both: Decodable {
      enum CodingKeys: String, CodingKey { case plain = "id", marked = "@id", only = "@no", own = "#text" }
      let plain: String, marked: Int, only: String?, own: String
    }
    let both = try Self.read("<a id='1'>t<id>2</id></a>", as: Both.self)
    #expect(both.plain == "2" && both.marked == 1 && both.only == nil && both.own == "t")
  }

  @Test func `key can name a namespace`() throws {
    struct Named: Decodable {
      enum CodingKeys: String, CodingKey { case first = "{urn:p}b", second = "{urn:q}b", third = "{}b" }
      let first: Int, second: Int, third: Int?
    }
    let named = try Self.read("<a xmlns:p='urn:p' xmlns:q='urn:q'><q:b>2</q:b><p:b>1</p:b></a>", as: Named.self)
    #expect(named.first == 1 && named.second == 2 && named.third == nil)
  }

  @Test func `root element can be an array`() throws {
    #expect(try Self.read("<a><n>1</n> <n>2</n><m>3</m></a>") == [1, 2, 3])
    #expect(try Self.read("<a/>") == [Int]())
    #expect(try Self.read("<a><r><n>1</n></r><r/></a>") == [[1], []])
    #expect(try Self.read("<a><x>1</x><y>2</y></a>") == ["x": 1, "y": 2])
  }

  struct Scalars: Decodable {
    let yes: Bool, no: Bool, small: Int8, large: UInt64, double: Double, float: Float
    let data: Data, url: URL, id: UUID, day: Date, choice: Choice
    enum Choice: String, Decodable { case left, right }
  }

  static let scalars = """
    <s yes=" true " no="0"><small>-128</small><large>18446744073709551615</large><double>-1.5e3</double>
    <float>INF</float><data>AA\n  EC</data><url>http://h/x</url><id>00000000-0000-0000-0000-000000000001</id>
    <day>1970-01-02</day><choice>right</choice></s>
    """

  @Test func `integers of 128 bits are read`() throws {
    struct Huge: Decodable { let small: Int128, large: UInt128?, list: [Int128] }
    let digits = "340282366920938463463374607431768211455"
    let text = "<h small=' -7 '><large>\(digits)</large><list>1</list><list>2</list></h>"
    let huge = try Self.read(text, as: Huge.self)
    #expect(huge.small == -7 && huge.large == UInt128.max && huge.list == [1, 2])
    #expect(Self.failure("<h small='x'/>", as: Huge.self)?.path == "h.small")
  }

  @Test func `texts are read as scalars`() throws {
    let value = try Self.read(Self.scalars, as: Scalars.self)
    #expect(value.yes && !value.no && value.small == -128 && value.large == .max && value.double == -1500)
    #expect(value.float == .infinity && value.data == Data([0, 1, 2]) && value.url.path == "/x")
    #expect(value.id.uuidString.hasSuffix("1") && value.day == Date(timeIntervalSince1970: 86400))
    #expect(value.choice == .right)
  }

  @Test(arguments: [
    ("true </s", "yes", "maybe"), ("-128", "small", "128"), ("-128", "small", ""), ("-128", "small", "1.0"),
    ("-1.5e3", "double", "0x10"), ("-1.5e3", "double", "nan"), ("18446744073709551615", "large", "-1"),
    ("AA\n  EC", "data", "*"), ("1970-01-02", "day", "02.01.1970"), ("1970-01-02", "day", "1970-01-01T00:00:00"),
    ("1970-01-02", "day", "1970-01-01T00:00:00Z."), ("1970-01-02", "day", "1970-13-01"),
    ("right", "choice", "up"), ("-128", "small", "<b/>"),
  ])
  func `error names path of wrong text`(old: String, field: String, new: String) {
    let text = Self.scalars.replacing(field == "yes" ? " true " : ">\(old)<", with: field == "yes" ? new : ">\(new)<")
    let failure = Self.failure(text, as: Scalars.self)
    #expect(failure?.kind == .mismatch && failure?.path == "s.\(field)", "\(String(describing: failure))")
  }

  @Test(arguments: ["1e400", "-1e400", "1e39", "-3.5e38", String(repeating: "9", count: 400)])
  func `numbers do not overflow`(number: String) throws {
    let text = "<a><n>\(number)</n></a>"
    let float = Self.failure(text, as: [String: Float].self)
    #expect(float?.path == "a.n" && float?.reason.contains("the number does not fit Float") == true)
    guard Double(number)?.isFinite == false else {
      #expect(try Self.read(text) == ["n": try #require(Double(number))])
      return
    }
    for failure in [Self.failure(text, as: [String: Double].self), Self.failure(text, as: [String: Decimal].self)] {
      #expect(failure?.kind == .mismatch && failure?.reason.contains("the number does not fit D") == true)
    }
  }

  @Test func `only literals are infinite`() throws {
    #expect(try Self.read("<a><n>INF</n><m>-INF</m></a>") == ["n": Float.infinity, "m": -Float.infinity])
    #expect(try Self.read("<a><n>INF</n><m>-INF</m></a>") == ["n": Double.infinity, "m": -Double.infinity])
    // Through a `Double`, this number would be rounded twice, to 1.0.
    #expect(try Self.read("<a><n>1.00000005960464477540</n></a>") == ["n": Float(1).nextUp])
  }

  @Test func `dates follow their format`() throws {
    for text in ["1970-01-01T01:00:00.500+01:00", "1970-01-01T00:00:00.5Z"] {
      #expect(try Self.read("<a><d>\(text)</d></a>") == ["d": Date(timeIntervalSince1970: 0.5)])
    }
    #expect(
      try Self.read("<a><d>7.5</d></a>", dates: .secondsSince1970) == ["d": Date(timeIntervalSince1970: 7.5)])
    let own = XMLDates { $0 == "epoch" ? Date(timeIntervalSince1970: 0) : nil }
    #expect(try Self.read("<a><d>epoch</d></a>", dates: own) == ["d": Date(timeIntervalSince1970: 0)])
  }

  @Test(arguments: [
    "2026-02-29", "2026-02-30", "2026-04-31", "2026-00-10", "2026-01-00", "2026-01-32", "2026-02-30T10:00:00Z",
    "2026-01-31T24:00:01Z", "2026-01-31T24:00:00.5Z", "2026-01-31T25:00:00Z", "2026-01-31T23:60:00Z",
    "2026-01-31T23:59:61Z", "2026-01-31T23:59:99.5Z", "2026-01-31T10:00:00+24:00", "2026-01-31T10:00:00+01:60",
    "2026-01-31T10:00:00-0160",
  ])
  func `dates that do not exist fail`(date: String) {
    let failure = Self.failure("<a><d>\(date)</d></a>", as: [String: Date].self)
    #expect(failure?.kind == .mismatch && failure?.path == "a.d", "\(String(describing: failure))")
  }

  @Test(arguments: [
    ("2024-02-29", 1_709_164_800), ("2026-01-31T24:00:00Z", 1_769_904_000),
    ("2026-01-31T24:00:00.000Z", 1_769_904_000), ("2026-01-31T23:59:60Z", 1_769_904_000),
    ("2026-01-31T23:59:59+14:00", 1_769_853_599), ("2026-01-31T23:59:59+1400", 1_769_853_599),
  ])
  func `last moments of days are dates`(date: String, seconds: Int) throws {
    #expect(try Self.read("<a><d>\(date)</d></a>") == ["d": Date(timeIntervalSince1970: Double(seconds))])
  }

  @Test func `missing and empty optionals are nil`() throws {
    struct Optionals: Decodable {
      let gone: Int?, empty: Int?, said: String?, list: [Int]?, text: String
    }
    let text =
      "<a xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'><empty/><said xsi:nil='true'>x</said><text/></a>"
    let value = try Self.read(text, as: Optionals.self)
    #expect(value.gone == nil && value.empty == nil && value.said == nil && value.list == nil && value.text.isEmpty)
  }

  @Test func `errors name missing and repeated elements`() {
    let missing = Self.failure(Self.catalog.replacing("<price>3</price>", with: ""), as: Catalog.self)
    #expect(missing?.description == "catalog.book[1].price: the value is missing" && missing?.kind == .missing)
    let twice = Self.failure(Self.catalog.replacing("<title/>", with: "<title/><title/>"), as: Catalog.self)
    #expect(
      twice?.description
        == "catalog.book[1].title: expected one element <title>, found 2; use an array type to read all elements")
    let nested = Self.failure(Self.catalog.replacing("A &amp; B", with: "<i>A</i>"), as: Catalog.self)
    #expect(nested?.description == "catalog.book[0].title: expected only text, found the element <i>")
    let number = Self.failure(Self.catalog.replacing("12.50", with: "12,50"), as: Catalog.self)
    #expect(number?.description == "catalog.book[0].price: expected a number, found other text")
    #expect(number?.path == "catalog.book[0].price")
  }

  @Test func `custom decoding initializer works`() throws {
    struct Pair: Decodable, Equatable {
      let first: Int, rest: [String]
      enum Keys: String, CodingKey { case head, tail }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        var tail = try container.nestedUnkeyedContainer(forKey: .tail)
        first = try container.nestedContainer(keyedBy: Keys.self, forKey: .head).decode(Int.self, forKey: .tail)
        var rest: [String] = []
        while !tail.isAtEnd { rest.append(try tail.decode(String.self)) }
        self.rest = rest
        #expect(container.allKeys == [.head, .tail])
        #expect(throws: DecodingError.self) { try tail.decode(String.self) }
      }
    }
    let pair = try Self.read("<a><head><tail>1</tail></head><tail>x</tail><tail>y</tail></a>", as: Pair.self)
    #expect(pair.first == 1 && pair.rest == ["x", "y"])
  }
}
