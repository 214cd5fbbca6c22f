#if os(Linux)
  import CBrotli
  import ErrandHTTP

  /// Brotli (RFC 7932), without its large windows.
  final class BrotliContentDecoder: ContentDecoder {
    private let state: OpaquePointer
    private(set) var isAtEnd = false

    init() throws(TransportFailure) {
      guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else {
        throw .undecodable("brotli cannot begin")
      }
      self.state = state
    }

    deinit { BrotliDecoderDestroyInstance(state) }

    func decode(
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
