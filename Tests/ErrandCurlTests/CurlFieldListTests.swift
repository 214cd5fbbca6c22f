#if os(Linux)
  import CCurl
  import ErrandCore
  import Testing

  @testable import ErrandCurl

  struct CurlFieldListTests {
    private static func lines(_ first: UnsafeMutablePointer<curl_slist>) -> [String] {
      var lines: [String] = []
      var node: UnsafeMutablePointer<curl_slist>? = first
      while let present = node {
        lines.append(String(cString: present.pointee.data))
        node = present.pointee.next
      }
      return lines
    }

    @Test func `fields are written in given order`() {
      var list = CurlFieldList()
      let fields: HTTPFields = ["Accept": "*/*", "X-Empty": "", "X-Umlaut": "é"]
      let built = Self.lines(list.build(fields, removesContentType: true, expectsContinue: false))
      #expect(built == ["Accept: */*", "X-Empty;", "X-Umlaut: é", "Expect:", "Content-Type:"])
      let other = Self.lines(list.build([:], removesContentType: false, expectsContinue: true))
      #expect(other == ["Expect: 100-continue", "Accept:"])
    }

    @Test func `long and many fields fit`() {
      var list = CurlFieldList()
      for count in [1, 7, 60, 2] {
        let long = String(repeating: "é", count: 50 * count * count)
        let fields = HTTPFields((0..<count).map { HTTPField(HTTPFieldName("X-\($0)"), "\(long)\($0)") })
        let built = Self.lines(list.build(fields, removesContentType: false, expectsContinue: false))
        #expect(built == fields.all.map { "\($0.name): \($0.value)" } + ["Expect:", "Accept:"])
      }
    }
  }
#endif
