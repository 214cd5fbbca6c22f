#if os(Linux)
  import ErrandCore

  /// Undoes one content coding, a buffer at a time.
  ///
  /// It is strict: what is damaged, cut short or followed by further bytes is an error. Nothing is produced beyond the
  /// output buffer, so a small body that would grow without end can be stopped after any piece.
  protocol ContentDecoder: AnyObject {
    /// Whether the end of the coded stream has been seen.
    var isAtEnd: Bool { get }

    /// Decodes from the front of `input` into `output`. Says how much was used and how much was produced.
    ///
    /// Where the output was filled there may be more: call again, with empty input too.
    func decode(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> (used: Int, produced: Int)
  }

  /// The content codings that can be undone (RFC 9110 section 8.4.1, RFC 7932, RFC 8878).
  enum ContentCoding: String, CaseIterable {
    case gzip, deflate, br, zstd

    /// What is announced to servers, the preferred first. `deflate` is understood, too, but servers disagree on it.
    static let announced = ["gzip", "br", "zstd"]

    /// A decoder for the values of `Content-Encoding`; nil where the body is not coded.
    static func decoder(for fieldValue: String) throws(TransportFailure) -> (any ContentDecoder)? {
      if fieldValue.isEmpty { return nil }
      let names = fieldValue.lowercased().split(separator: ",").map(trimmed).filter { $0 != "" && $0 != "identity" }
      guard let name = names.first else { return nil }
      guard names.count == 1 else { throw .undecodable("it is coded more than once") }
      guard let coding = ContentCoding(rawValue: name == "x-gzip" ? "gzip" : name) else {
        throw .undecodable("its content coding is not one of gzip, deflate, br and zstd")
      }
      return try coding.makeDecoder()
    }

    private static func trimmed(_ text: Substring) -> String {
      text.utf8.withContiguousStorageIfAvailable { bytes in
        RawFieldBlock.text(CurlLine.trimmed(UnsafeRawBufferPointer(bytes)))
      } ?? String(text)
    }

    func makeDecoder() throws(TransportFailure) -> any ContentDecoder {
      switch self {
      case .gzip: try ZlibDecoder(.gzip)
      case .deflate: try ZlibDecoder(.deflate)
      case .br: try BrotliContentDecoder()
      case .zstd: try ZstdContentDecoder()
      }
    }
  }
#endif
