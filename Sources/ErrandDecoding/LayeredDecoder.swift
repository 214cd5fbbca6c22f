#if os(Linux)
  package import ErrandHTTP

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
