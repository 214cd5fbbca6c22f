#if os(Linux)
  import CBrotli
  package import ErrandHTTP

  /// Undoes one content coding, a buffer at a time.
  ///
  /// A damaged or truncated stream is an error. Bytes that follow the end of the stream and begin no further one are
  /// ignored, as gzip and browsers do. Nothing is produced beyond the output buffer, so a small body that would grow
  /// without end can be stopped after any piece.
  package protocol ContentDecoder: AnyObject {
    /// Whether the end of the coded stream has been seen.
    var isAtEnd: Bool { get }
    /// Whether a call with empty input would continue, even if the last one did not fill its output.
    var holdsOutput: Bool { get }
    /// The bytes between several codings: decoded by one of them and consumed by the next.
    var hiddenBytes: Int64 { get }

    /// Decodes from the front of `input` into `output`. Says how much was used and how much was produced.
    ///
    /// If the output was filled there may be more: call again, with empty input too.
    func decode(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> (used: Int, produced: Int)
  }

  extension ContentDecoder {
    package var holdsOutput: Bool { false }
    package var hiddenBytes: Int64 { 0 }

    /// Decodes once, and throws if that changes nothing though there is input.
    package func progress(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> (used: Int, produced: Int) {
      let hidden = hiddenBytes
      let step = try decode(input, into: output)
      guard step.used > 0 || step.produced > 0 || input.isEmpty || holdsOutput || hiddenBytes > hidden else {
        throw .undecodable("its compressed stream does not go on")
      }
      return step
    }
  }

  /// The content codings that can be undone (RFC 9110 section 8.4.1, RFC 7932, RFC 8878).
  package enum ContentCoding: String, CaseIterable {
    case gzip, deflate, br, zstd

    /// What is announced to servers, the preferred first. `deflate` is understood, too, but servers disagree on it.
    package static let announced = ["gzip", "br", "zstd"]

    /// The most codings that one body may have.
    package static let mostLayers = 5

    /// Registered codings that cannot be undone here, with their aliases: their bytes are not the representation.
    private static let unsupported: Set<String> = [
      "compress", "x-compress", "aes128gcm", "dcb", "dcz", "exi", "pack200-gzip",
    ]

    /// A decoder for the values of `Content-Encoding`; nil if the body is not coded.
    ///
    /// Codings are undone from the last to the first. Names that are no registered coding say nothing about the bytes
    /// and are ignored, unless `refusesUnknown` is set.
    package static func decoder(
      for fieldValue: String, refusesUnknown: Bool = false
    ) throws(TransportFailure) -> (any ContentDecoder)? {
      if fieldValue.isEmpty { return nil }
      var codings: [ContentCoding] = []
      for element in fieldValue.lowercased().split(separator: ",") {
        let name = trimmed(element)
        if let coding = try coding(named: name, refusesUnknown: refusesUnknown) { codings.append(coding) }
      }
      guard codings.count <= mostLayers else { throw .undecodable("it has more than \(mostLayers) content codings") }
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
      // A known name with something behind it, such as `gzip;q=1`, may mean the coding or not.
      let token = String(name.prefix { $0 != ";" && $0 != " " && $0 != "\t" })
      let isKnown = token == "x-gzip" || ContentCoding(rawValue: token) != nil || unsupported.contains(token)
      guard !isKnown, !refusesUnknown else {
        throw .undecodable("its content coding \(shown(name)) is not one of gzip, deflate, br and zstd")
      }
      return nil
    }

    /// A name for a message: at most 40 characters, printable ASCII alone.
    private static func shown(_ name: String) -> String {
      let bytes = name.utf8.prefix(40).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
      return "\"" + String(decoding: bytes, as: UTF8.self) + "\""
    }

    private static func trimmed(_ text: Substring) -> String {
      text.utf8.withContiguousStorageIfAvailable { bytes in
        RawFieldBlock.text(HeadLine.trimmed(UnsafeRawBufferPointer(bytes)))
      } ?? String(text)
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

  /// Brotli (RFC 7932), without its large windows.
  package final class BrotliContentDecoder: ContentDecoder {
    private let state: OpaquePointer
    package private(set) var isAtEnd = false

    package init() throws(TransportFailure) {
      guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else {
        throw .undecodable("brotli cannot begin")
      }
      self.state = state
    }

    deinit { BrotliDecoderDestroyInstance(state) }

    package func decode(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> (used: Int, produced: Int) {
      // What follows the end is ignored: brotli has no second stream (RFC 7932 section 2).
      if isAtEnd { return (input.count, 0) }
      var inputLeft = input.count
      var nextInput = input.assumingMemoryBound(to: UInt8.self).baseAddress
      var outputLeft = output.count
      var nextOutput = output.assumingMemoryBound(to: UInt8.self).baseAddress
      let result = BrotliDecoderDecompressStream(state, &inputLeft, &nextInput, &outputLeft, &nextOutput, nil)
      switch result {
      case BROTLI_DECODER_RESULT_SUCCESS: isAtEnd = true
      case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT, BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: break
      default: throw .undecodable("its br stream is damaged")
      }
      return (input.count - inputLeft, output.count - outputLeft)
    }
  }
#endif
