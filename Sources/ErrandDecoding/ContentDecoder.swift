#if os(Linux)
  import CBrotli
  package import ErrandHTTP

  /// Decodes one content coding, one buffer at a time.
  ///
  /// A damaged or truncated stream is an error. Bytes after the end of the stream are ignored if they do not begin
  /// another stream; the program gzip and browsers do the same. One call of ``decode(_:into:)`` never produces more
  /// bytes than the output buffer holds. The caller can therefore stop a small body that decodes to a huge body.
  package protocol ContentDecoder: AnyObject {
    /// True if the end of the coded stream was reached.
    var isAtEnd: Bool { get }
    /// True if the decoder may hold more output, although the last call did not fill its output buffer. The caller gets
    /// this output by calling again with empty input. If the last call filled its output buffer, more output may follow
    /// in any case.
    var holdsOutput: Bool { get }
    /// The number of bytes that the decoders of several content codings have passed to each other. The caller never
    /// receives these bytes.
    var hiddenBytes: Int64 { get }

    /// Decodes bytes from the beginning of `input` into `output`. Returns how many bytes were read and how many bytes
    /// were produced.
    ///
    /// If `output` was filled, more output may be available: call again, with empty input if necessary.
    func decode(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> (used: Int, produced: Int)
  }

  extension ContentDecoder {
    package var holdsOutput: Bool { false }
    package var hiddenBytes: Int64 { 0 }

    /// Calls ``decode(_:into:)`` once. Throws if there is input, but the call neither reads nor produces bytes.
    /// Otherwise the caller would repeat the call forever.
    package func progress(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> (used: Int, produced: Int) {
      let hidden = hiddenBytes
      let step = try decode(input, into: output)
      guard step.used > 0 || step.produced > 0 || input.isEmpty || holdsOutput || hiddenBytes > hidden else {
        throw .undecodable("the decoder makes no progress, so the compressed data is damaged")
      }
      return step
    }
  }

  /// The content codings that can be decoded (RFC 9110 section 8.4.1, RFC 7932, RFC 8878).
  package enum ContentCoding: String, CaseIterable {
    case gzip, deflate, br, zstd

    /// The codings that requests announce to servers, in order of preference. `deflate` is decoded too, but it is not
    /// announced because servers use different formats for it.
    package static let announced = ["gzip", "br", "zstd"]

    /// The maximum number of content codings that one body may have.
    package static let mostLayers = 5

    /// Registered codings and aliases that this library cannot decode. A body with such a coding must not be delivered
    /// as if it were not coded.
    private static let unsupported: Set<String> = [
      "compress", "x-compress", "aes128gcm", "dcb", "dcz", "exi", "pack200-gzip",
    ]

    /// Creates a decoder for the values of `Content-Encoding`. Nil if the body is not coded.
    ///
    /// Codings are decoded from the last to the first. A name that is not a registered coding is ignored, or is an
    /// error if `refusesUnknown` is true.
    package static func decoder(
      for fieldValue: String, refusesUnknown: Bool = false
    ) throws(TransportFailure) -> (any ContentDecoder)? {
      if fieldValue.isEmpty { return nil }
      var codings: [ContentCoding] = []
      // Compares bytes, because a separator and a combining mark after it are one `Character`.
      for element in fieldValue.lowercased().utf8.split(separator: UInt8(ascii: ",")) {
        let name = String(Substring(ASCII.trimmed(element)))
        if let coding = try coding(named: name, refusesUnknown: refusesUnknown) { codings.append(coding) }
      }
      guard codings.count <= mostLayers else { throw .undecodable("the body has over \(mostLayers) content codings") }
      guard let last = codings.popLast() else { return nil }
      var decoder = try last.makeDecoder()
      while let next = codings.popLast() { decoder = try LayeredDecoder(decoder, next.makeDecoder()) }
      return decoder
    }

    private static func coding(
      named name: String, refusesUnknown: Bool
    ) throws(TransportFailure) -> ContentCoding? {
      if name.isEmpty || name == "identity" { return nil }
      if let coding = ContentCoding(rawValue: name == "x-gzip" ? "gzip" : name) { return coding }
      // `Content-Encoding` has no parameters, so it is unclear whether a name with a suffix, such as `gzip;q=1`, means
      // the coding. Such a name is an error.
      let token = String(Substring(name.utf8.prefix { $0 != UInt8(ascii: ";") && !ASCII.isBlank($0) }))
      let isKnown = token == "x-gzip" || ContentCoding(rawValue: token) != nil || unsupported.contains(token)
      guard !isKnown, !refusesUnknown else {
        throw .undecodable("the content coding \(shown(name)) is not one of gzip, deflate, br and zstd")
      }
      return nil
    }

    /// A coding's name for a message: at most 40 bytes. Bytes that are not printable ASCII become question marks.
    private static func shown(_ name: String) -> String {
      let bytes = name.utf8.prefix(40).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
      return "\"" + String(decoding: bytes, as: UTF8.self) + "\""
    }

    package func makeDecoder() throws(TransportFailure) -> any ContentDecoder {
      switch self {
      case .gzip: try ZlibDecoder(.gzip)
      case .deflate: try ZlibDecoder(.deflate)
      case .br: try BrotliContentDecoder()
      case .zstd: try ZstdContentDecoder()
      }
    }
  }

  /// A decoder for Brotli (RFC 7932), without the large window extension.
  package final class BrotliContentDecoder: ContentDecoder {
    private let state: OpaquePointer
    package private(set) var isAtEnd = false

    package init() throws(TransportFailure) {
      guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else {
        throw .undecodable("the brotli decoder cannot be created")
      }
      self.state = state
    }

    deinit { BrotliDecoderDestroyInstance(state) }

    package func decode(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> (used: Int, produced: Int) {
      // Bytes after the end are ignored, because a brotli body has only one stream (RFC 7932 section 2).
      if isAtEnd { return (input.count, 0) }
      var inputLeft = input.count
      var nextInput = input.assumingMemoryBound(to: UInt8.self).baseAddress
      var outputLeft = output.count
      var nextOutput = output.assumingMemoryBound(to: UInt8.self).baseAddress
      let result = BrotliDecoderDecompressStream(state, &inputLeft, &nextInput, &outputLeft, &nextOutput, nil)
      switch result {
      case BROTLI_DECODER_RESULT_SUCCESS: isAtEnd = true
      case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT, BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: break
      default: throw .undecodable("the br stream is damaged")
      }
      return (input.count - inputLeft, output.count - outputLeft)
    }
  }

  /// Decodes two content codings, one after the other. Each of the two decoders may be a layered decoder itself.
  ///
  /// Each call runs each decoder at most twice, so it produces a limited number of bytes. Between two calls, the caller
  /// can stop a body that becomes huge after the first decoding.
  package final class LayeredDecoder: ContentDecoder {
    private static let size = 16 << 10

    private let outer: any ContentDecoder
    private let inner: any ContentDecoder
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    /// The range in `buffer` of the bytes that `outer` has produced and `inner` has not read yet.
    private var waiting = 0..<0
    private var outerHoldsOutput = false
    private var innerHoldsOutput = false
    private var ownHiddenBytes: Int64 = 0

    /// Creates a decoder for two content codings. `outer` decodes the received bytes, because the server applied its
    /// coding last. `inner` decodes the output of `outer`.
    package init(_ outer: any ContentDecoder, _ inner: any ContentDecoder) {
      self.outer = outer
      self.inner = inner
    }

    deinit { buffer.deallocate() }

    package var isAtEnd: Bool { outer.isAtEnd && inner.isAtEnd && !holdsOutput }
    package var holdsOutput: Bool { !waiting.isEmpty || outerHoldsOutput || innerHoldsOutput }
    package var hiddenBytes: Int64 { ownHiddenBytes + outer.hiddenBytes + inner.hiddenBytes }

    package func decode(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> (used: Int, produced: Int) {
      if !waiting.isEmpty || innerHoldsOutput {
        let produced = try runInner(output)
        if produced > 0 || !waiting.isEmpty || innerHoldsOutput { return (0, produced) }
      }
      let step = try outer.progress(input, into: buffer)
      waiting = 0..<step.produced
      outerHoldsOutput = step.produced == buffer.count || outer.holdsOutput
      ownHiddenBytes += Int64(step.produced)
      return (step.used, step.produced == 0 ? 0 : try runInner(output))
    }

    private func runInner(_ output: UnsafeMutableRawBufferPointer) throws(TransportFailure) -> Int {
      let step = try inner.progress(UnsafeRawBufferPointer(rebasing: buffer[waiting]), into: output)
      waiting = (waiting.lowerBound + step.used)..<waiting.upperBound
      innerHoldsOutput = step.produced == output.count || inner.holdsOutput
      return step.produced
    }
  }
#endif
