#if os(Linux)
  package import ErrandDecoding
  import CZlib
  import CZstd
  import Foundation

  /// Bodies with content codings for tests.
  package enum CodedSamples {
    package static let text =
      String(repeating: "The quick brown fox jumps over the lazy dog. ", count: 3) + "0123456789"

    /// ``text`` in each coding.
    package static func text(in coding: ContentCoding) -> [UInt8] {
      switch coding {
      case .br:
        bytes(
          "1b9000888c94a8e35b10e621e903e5d2b1c40b38a1561915f6061b70e09040fe403631dda0d30aa775753c4e94f152f0201cbafd473b053cd458e7434cb900"
        )
      default: encode(Array(text.utf8), coding)
      }
    }

    /// 8 MiB of zeros in each coding: a few bytes to a few kilobytes.
    package static func zeros(in coding: ContentCoding) -> [UInt8] {
      switch coding {
      case .br: bytes("9bffff7ff82700e2b14020f7fe0f")
      default: encode([UInt8](repeating: 0, count: 8 << 20), coding)
      }
    }

    package static func encode(_ plain: [UInt8], _ coding: ContentCoding) -> [UInt8] {
      switch coding {
      case .gzip: deflate(plain, windowBits: 31)
      case .deflate: deflate(plain, windowBits: 15)
      case .zstd: zstd(plain)
      case .br: []
      }
    }

    /// A raw stream of RFC 1951, without the zlib wrapper.
    package static func bareDeflate(_ plain: [UInt8]) -> [UInt8] { deflate(plain, windowBits: -15) }

    private static func deflate(_ plain: [UInt8], windowBits: Int32) -> [UInt8] {
      var stream = z_stream()
      deflateInit2_(
        &stream, 6, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
      var plain = plain
      var coded = [UInt8](repeating: 0, count: plain.count + 1000)
      let count = plain.withUnsafeMutableBufferPointer { input in
        coded.withUnsafeMutableBufferPointer { output in
          stream.next_in = input.baseAddress
          stream.avail_in = UInt32(input.count)
          stream.next_out = output.baseAddress
          stream.avail_out = UInt32(output.count)
          _ = CZlib.deflate(&stream, Z_FINISH)
          return Int(stream.total_out)
        }
      }
      deflateEnd(&stream)
      return Array(coded.prefix(count))
    }

    /// The frame ends with a checksum, so any damage is detected.
    private static func zstd(_ plain: [UInt8]) -> [UInt8] {
      let context = ZSTD_createCCtx()
      defer { ZSTD_freeCCtx(context) }
      ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
      var coded = [UInt8](repeating: 0, count: ZSTD_compressBound(plain.count))
      let count = ZSTD_compress2(context, &coded, coded.count, plain, plain.count)
      return Array(coded.prefix(count))
    }

    private static func bytes(_ hex: String) -> [UInt8] {
      var digits = hex[...]
      var bytes: [UInt8] = []
      while !digits.isEmpty {
        bytes.append(UInt8(digits.prefix(2), radix: 16) ?? 0)
        digits = digits.dropFirst(2)
      }
      return bytes
    }
  }
#endif
