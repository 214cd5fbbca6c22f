import Testing

@testable import ErrandTelemetry

/// The cases of the test suite in the repository of W3C Baggage, and the examples of the specification.
struct BaggageTests {
  private typealias Entry = Baggage.Entry
  private typealias Property = Baggage.Property

  private static let cases: [(fields: [String], entries: [Entry])] = [
    ([], []), ([""], []), (["SomeKey=SomeValue"], [Entry(key: "SomeKey", value: "SomeValue")]),
    (
      ["SomeKey=SomeValue;SomeProp,SomeKey2=SomeValue2;ValueProp=PropVal"],
      [
        Entry(key: "SomeKey", value: "SomeValue", properties: [Property(key: "SomeProp")]),
        Entry(key: "SomeKey2", value: "SomeValue2", properties: [Property(key: "ValueProp", value: "PropVal")]),
      ]
    ),
    (
      [
        "SomeKey \t = \t SomeValue \t ; \t SomeProp \t , \t SomeKey2 \t = \t SomeValue2 \t ; \t ValueProp \t = \t PropVal"
      ],
      [
        Entry(key: "SomeKey", value: "SomeValue", properties: [Property(key: "SomeProp")]),
        Entry(key: "SomeKey2", value: "SomeValue2", properties: [Property(key: "ValueProp", value: "PropVal")]),
      ]
    ),
    (["SomeKey=SomeValue=equals"], [Entry(key: "SomeKey", value: "SomeValue=equals")]),
    (
      ["SomeKey=%09%20%22%27%3B%3Dasdf%21%40%23%24%25%5E%26%2A%28%29"],
      [Entry(key: "SomeKey", value: "\t \"';=asdf!@#$%^&*()")]
    ),
    (
      ["SomeKey=SomeValue;SomeProp;SomeProp=PropValue;SomeProp=AnotherPropValue"],
      [
        Entry(
          key: "SomeKey", value: "SomeValue",
          properties: [
            Property(key: "SomeProp"), Property(key: "SomeProp", value: "PropValue"),
            Property(key: "SomeProp", value: "AnotherPropValue"),
          ])
      ]
    ),
    (
      ["key1=value1;property1;property2, key2 = value2, key3=value3; propertyKey=propertyValue"],
      [
        Entry(key: "key1", value: "value1", properties: [Property(key: "property1"), Property(key: "property2")]),
        Entry(key: "key2", value: "value2"),
        Entry(key: "key3", value: "value3", properties: [Property(key: "propertyKey", value: "propertyValue")]),
      ]
    ),
    (
      ["userId=Am%C3%A9lie,serverNode=DF%2028,isProduction=false"],
      [
        Entry(key: "userId", value: "Amélie"), Entry(key: "serverNode", value: "DF 28"),
        Entry(key: "isProduction", value: "false"),
      ]
    ),
    (
      ["userId =   alice", "serverNode = DF%2028, isProduction = false"],
      [
        Entry(key: "userId", value: "alice"), Entry(key: "serverNode", value: "DF 28"),
        Entry(key: "isProduction", value: "false"),
      ]
    ),
    (["a=1,a=2"], [Entry(key: "a", value: "1"), Entry(key: "a", value: "2")]),
    (["a=%FF"], [Entry(key: "a", value: "\u{FFFD}")]), (["a=5%"], [Entry(key: "a", value: "5%")]),
    (["a=%4"], [Entry(key: "a", value: "%4")]), (["a="], [Entry(key: "a", value: "")]),
  ]

  @Test(arguments: cases.indices)
  func `field is read`(_ index: Int) {
    #expect(Baggage(fields: Self.cases[index].fields).entries == Self.cases[index].entries)
  }

  @Test(arguments: ["a", "a b=1", "=1", "a=1 2", "a=\"1\"", "a=1\\2", "é=1", "a=é", "a=1;b c", "a=1;=2", ";b=1"])
  func `invalid member is left out`(_ text: String) {
    #expect(Baggage(fields: [text]).entries.isEmpty)
    #expect(Baggage(fields: ["x=1,\(text)"]).entries == [Entry(key: "x", value: "1")])
  }

  @Test func `value is written with escapes`() {
    let entry = Entry(
      key: "userId", value: "Amélie, \"5%\"", properties: [Property(key: "p"), Property(key: "q", value: "a;b")])
    let text = "userId=Am%C3%A9lie%2C%20%225%25%22;p;q=a%3Bb"
    #expect(Baggage([entry]).text == text)
    #expect(Baggage(fields: [text]).entries == [entry])
  }

  @Test func `entry without a token as key is not sent`() {
    #expect((["a b": "1", "": "2", "c": "3"] as Baggage).text == "c=3")
    #expect(Baggage([Entry(key: "a", value: "1", properties: [Property(key: "b c")])]).text == "a=1")
  }

  @Test func `sixty-fifth entry is not sent`() {
    let baggage = Baggage((0..<65).map { Entry(key: "k\($0)", value: "v") })
    #expect(Baggage(fields: [baggage.text]).entries == Array(baggage.entries.prefix(64)))
  }

  @Test func `entry beyond 8192 bytes is not sent`() {
    let long = String(repeating: "v", count: 8_188)
    #expect((["a": "\(long)vv"] as Baggage).text.utf8.count == 8_192)
    #expect((["a": "\(long)vvv", "b": "1"] as Baggage).text == "b=1")
    #expect((["a": long, "b": "1"] as Baggage).text == "a=\(long)")
  }

  @Test func `subscript replaces in place`() {
    var baggage: Baggage = ["a": "1", "b": "2", "a": "3"]
    #expect(baggage["a"] == "1")
    baggage["a"] = "4"
    #expect(baggage.text == "a=4,b=2")
    baggage["a"] = nil
    baggage["c"] = "5"
    #expect(baggage.text == "b=2,c=5")
  }
}
