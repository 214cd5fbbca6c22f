#if os(Linux)
  import CodedSamples
  import ErrandCore
  import ErrandDecoding
  import Testing

  @testable import ErrandCurl

  struct ContentDecoderTests {
    /// Decodes pieces of `size` bytes into buffers of `room` bytes and requires that the stream ends.
    static func decode(
      _ coded: [UInt8], _ decoder: any ContentDecoder, by size: Int = .max, room: Int = 64
    ) throws -> [UInt8] {
      var plain: [UInt8] = []
      var rest = coded[...]
      let output = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
      defer { output.deallocate() }
      while true {
        let piece = Array(rest.prefix(size))
        let step = try piece.withUnsafeBytes { try decoder.decode($0, into: output) }
        plain += output[..<step.produced]
        rest = rest.dropFirst(step.used)
        if rest.isEmpty, step.produced < room, !decoder.holdsOutput { break }
      }
      guard decoder.isAtEnd else { throw TransportFailure.undecodable("cut") }
      return plain
    }

    @Test(arguments: ContentCoding.allCases, [1, 2, 7, 1000])
    func `each content coding is decoded`(_ coding: ContentCoding, _ size: Int) throws {
      for room in [1, 7, 64, 4096] {
        let plain = try Self.decode(CodedSamples.text(in: coding), coding.makeDecoder(), by: size, room: room)
        #expect(String(decoding: plain, as: UTF8.self) == CodedSamples.text)
      }
    }

    @Test(arguments: ContentCoding.allCases)
    func `truncation at any byte throws`(_ coding: ContentCoding) throws {
      let coded = CodedSamples.text(in: coding)
      for count in 0..<coded.count {
        #expect(throws: TransportFailure.self, "cut at \(count) of \(coded.count)") {
          try Self.decode(Array(coded.prefix(count)), coding.makeDecoder())
        }
      }
    }

    static let tails: [[UInt8]] = [
      [0], [UInt8](repeating: 0, count: 700), [0x0D, 0x0A], [0x1F, 0], [0x28, 0xB5, 0], [0x50, 0], [0xFF, 0x1F, 0x8B],
      [0x1F], [0x28], [0x28, 0xB5, 0x2F], [0x50], [0x5F, 0x2A, 0x4D],
    ]

    /// The length of the magic number, which begins another member or frame.
    private static func magicLength(_ coding: ContentCoding) -> Int { coding == .gzip ? 2 : 4 }

    @Test(arguments: ContentCoding.allCases, tails)
    func `bytes after the end are ignored`(_ coding: ContentCoding, _ tail: [UInt8]) throws {
      let coded = CodedSamples.text(in: coding)
      for size in [1, 3, 1000] {
        let plain = try Self.decode(coded + tail, coding.makeDecoder(), by: size)
        #expect(String(decoding: plain, as: UTF8.self) == CodedSamples.text)
      }
    }

    @Test(arguments: [ContentCoding.gzip, .zstd], [1, 2, 7, 1000])
    func `truncated second member throws`(_ coding: ContentCoding, _ size: Int) throws {
      let coded = CodedSamples.text(in: coding)
      for count in Self.magicLength(coding)..<coded.count {
        #expect(throws: TransportFailure.self, "cut at \(count)") {
          try Self.decode(coded + coded.prefix(count), coding.makeDecoder(), by: size)
        }
      }
      var damaged = coded
      damaged[coded.count - (coding == .gzip ? 5 : 1)] ^= 1
      #expect(throws: TransportFailure.self) { try Self.decode(coded + damaged, coding.makeDecoder(), by: size) }
    }

    /// RFC 8878 section 3: a sequence of frames and skippable frames.
    @Test(arguments: [1, 2, 7, 1000]) func `zstd frames are concatenated`(size: Int) throws {
      let coded = CodedSamples.text(in: .zstd)
      let skipped: [UInt8] = [0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3]
      let empty: [UInt8] = [0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0]
      for (bytes, count) in [
        (coded + coded + coded, 3), (skipped + coded + empty + coded + skipped, 2), (empty, 0), (skipped + skipped, 0),
        (coded + skipped + [7, 7], 1),
      ] {
        for room in [1, 64, 4096] {
          let plain = try Self.decode(bytes, ContentCoding.zstd.makeDecoder(), by: size, room: room)
          #expect(String(decoding: plain, as: UTF8.self) == String(repeating: CodedSamples.text, count: count))
        }
      }
      for count in Self.magicLength(.zstd)..<skipped.count {
        #expect(throws: TransportFailure.self) {
          try Self.decode(coded + skipped.prefix(count), ContentCoding.zstd.makeDecoder(), by: size)
        }
      }
    }

    /// RFC 1952 section 2.2.
    @Test(arguments: [1, 2, 7, 1000]) func `gzip members are concatenated`(size: Int) throws {
      let coded = CodedSamples.text(in: .gzip)
      for room in [1, 64, 4096] {
        let plain = try Self.decode(coded + coded + coded, ContentCoding.gzip.makeDecoder(), by: size, room: room)
        #expect(String(decoding: plain, as: UTF8.self) == String(repeating: CodedSamples.text, count: 3))
      }
    }

    @Test(arguments: [ContentCoding.gzip, .deflate, .zstd])
    func `changed byte throws`(_ coding: ContentCoding) throws {
      let coded = CodedSamples.text(in: coding)
      let plain = Array(CodedSamples.text.utf8)
      for index in coded.indices {
        var damaged = coded
        damaged[index] ^= 0x55
        // Some bytes carry no data, such as the time in a gzip header. Changing one must not change the text.
        if let decoded = try? Self.decode(damaged, coding.makeDecoder()) { #expect(decoded == plain, "at \(index)") }
      }
      var wrongSum = coded
      wrongSum[coded.count - (coding == .gzip ? 5 : 1)] ^= 1
      #expect(throws: TransportFailure.self) { try Self.decode(wrongSum, coding.makeDecoder()) }
    }

    /// Found by fuzzing: an invalid header, split before bytes that start the format of zstd 0.5.
    @Test func `invalid header does not enable old formats`() {
      let hidden: [UInt8] = [
        0x28, 0xB5, 0x2F, 0xFD, 0xFC, 0x31, 0x9F, 0xF7, 0x25, 0xB5, 0x2F, 0xFD, 0, 0, 0, 0,
      ]
      for size in 1...hidden.count {
        #expect(throws: TransportFailure.self) {
          try Self.decode(hidden, ContentCoding.zstd.makeDecoder(), by: size)
        }
      }
    }

    /// Found by fuzzing: the formats of zstd 0.5, 0.6 and 0.7.
    @Test(arguments: [0x25, 0x26, 0x27] as [UInt8])
    func `only the zstd format of the RFC is accepted`(_ first: UInt8) throws {
      let rest: [UInt8] = [0xB5, 0x2F, 0xFD, 0, 0, 0, 0, 0]
      for size in [1, 3, 100] {
        #expect(throws: TransportFailure.self) {
          try Self.decode([first] + rest, ContentCoding.zstd.makeDecoder(), by: size)
        }
      }
    }

    @Test func `raw deflate stream is decoded`() throws {
      let plain = Array(CodedSamples.text.utf8)
      for size in [1, 1000] {
        let decoder = try ContentCoding.deflate.makeDecoder()
        #expect(try Self.decode(CodedSamples.bareDeflate(plain), decoder, by: size) == plain)
      }
    }

    @Test(arguments: ["gzip", "GZIP", "x-gzip", " gzip ", "gzip, identity", "identity,br", "deflate", "zstd"])
    func `known coding has a decoder`(_ value: String) throws {
      #expect(try ContentCoding.decoder(for: value) != nil)
    }

    @Test(
      arguments: [
        "", "identity", " identity ", ",", "Identity", "none", "aws-chunked", "utf-8", "UTF-8", "binary", "8bit", "foo",
        "text/html", "charset=utf-8", "\u{1}",
      ])
    func `unknown coding has no decoder`(_ value: String) throws {
      #expect(try ContentCoding.decoder(for: value) == nil)
      let refuses = !["", "identity", " identity ", ",", "Identity"].contains(value)
      let result = Result { try ContentCoding.decoder(for: value, refusesUnknown: true) }
      #expect((try? result.get()) == nil)
      if refuses { #expect(throws: TransportFailure.self) { try result.get() } }
    }

    @Test(arguments: ["aws-chunked,gzip", "gzip, utf-8", "none, gzip", "gzip,\u{301}"])
    func `known coding among unknown ones is decoded`(_ value: String) throws {
      let decoder = try #require(try ContentCoding.decoder(for: value))
      let plain = try Self.decode(CodedSamples.text(in: .gzip), decoder)
      #expect(String(decoding: plain, as: UTF8.self) == CodedSamples.text)
    }

    @Test(
      arguments: [
        "compress", "x-compress", "gzip, compress", "dcb", "gzip foo", "br;q=1", "br;\u{301}",
        "gzip,gzip,gzip,gzip,gzip,gzip",
      ])
    func `unsupported coding throws`(_ value: String) {
      let failure = #expect(throws: TransportFailure.self) { try ContentCoding.decoder(for: value) }
      #expect(failure?.kind == .undecodableContent)
    }

    @Test(arguments: ContentCoding.allCases, [ContentCoding.gzip, .deflate, .zstd])
    func `last coding is decoded first`(_ first: ContentCoding, _ second: ContentCoding) throws {
      let coded = CodedSamples.encode(CodedSamples.text(in: first), second)
      let value = "\(first.rawValue), \(second.rawValue)"
      for (size, room) in [(1, 1), (1, 64), (7, 7), (1000, 1), (1000, 4096)] {
        let decoder = try #require(try ContentCoding.decoder(for: value))
        let plain = try Self.decode(coded, decoder, by: size, room: room)
        #expect(String(decoding: plain, as: UTF8.self) == CodedSamples.text)
      }
      for count in 0..<coded.count {
        let decoder = try #require(try ContentCoding.decoder(for: value))
        #expect(throws: TransportFailure.self) { try Self.decode(Array(coded.prefix(count)), decoder) }
      }
    }

    @Test func `large nested codings are decoded completely`() throws {
      let plain = [UInt8](repeating: 7, count: 3 << 20)
      var coded = plain
      for _ in 0..<3 { coded = CodedSamples.encode(coded, .gzip) }
      let decoder = try #require(try ContentCoding.decoder(for: "gzip, gzip, gzip"))
      #expect(try Self.decode(coded, decoder, room: 4096) == plain)
      #expect(decoder.hiddenBytes > 0)
    }
  }
#endif
