import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The standard streams of the process.
enum Terminal {
  /// One of the two streams that are written to.
  enum Stream: Int32, Sendable {
    case output = 1
    case error = 2
  }

  /// Whether somebody looks at a stream.
  static func isTerminal(_ stream: Stream) -> Bool { isatty(stream.rawValue) == 1 }

  /// The paint for a stream: colours for a terminal that knows them, where `NO_COLOR` does not forbid it.
  static func paint(
    for stream: Stream, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> Paint {
    Paint(isOn: isTerminal(stream) && wantsColour(environment))
  }

  /// What the environment says about colours (no-color.org).
  static func wantsColour(_ environment: [String: String]) -> Bool {
    environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
  }

  /// Writes text to a stream.
  static func write(_ text: String, to stream: Stream = .output) { write(Data(text.utf8), to: stream) }

  /// Writes bytes to a stream, all of them; gives up where nobody reads any more.
  @discardableResult
  static func write(_ bytes: some ContiguousBytes, to stream: Stream = .output) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let written = systemWrite(stream.rawValue, UnsafeRawBufferPointer(rebasing: rest))
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { return false }
        rest = rest.dropFirst(written)
      }
      return true
    }
  }

  private static func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
      Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    #else
      Darwin.write(descriptor, bytes.baseAddress, bytes.count)
    #endif
  }
}
