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

  /// Makes the streams fit to be used; the first thing of the process.
  ///
  /// One that is closed is opened so that using it fails: its number would go to the next file or socket, and what is
  /// said would be written there. That nobody reads any more is told by a write that fails, not by the end of the
  /// process; a handler that does nothing is not handed on to programs that are started, as ignoring would be.
  static func prepare() {
    for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
    }
    signal(SIGPIPE) { _ in }
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

  /// Says on standard error what is wrong, in a sentence.
  static func complain(_ sentence: String) {
    write("\(paint(for: .error)(.red, "errand:")) \(PlainText.visible(sentence))\n", to: .error)
  }

  /// Writes text to a stream; returns the system's error number where that fails.
  @discardableResult
  static func write(_ text: String, to stream: Stream = .output) -> Int32? { write(Data(text.utf8), to: stream) }

  /// Writes bytes to a stream; returns the system's error number where that fails.
  @discardableResult
  static func write(_ bytes: Data, to stream: Stream = .output) -> Int32? { put(bytes, into: stream.rawValue) }

  /// Writes what the process is there for to standard output, and says how it ends.
  static func show(_ text: String) -> ExitCode { write(text).map(lost) ?? .success }

  /// Says that standard output could not be written, and how the process ends then. That nobody reads any more is no
  /// news.
  static func lost(_ code: Int32) -> ExitCode {
    if code != EPIPE { complain("The standard output cannot be written: \(String(cString: strerror(code))).") }
    return .other
  }

  /// Writes bytes to a descriptor, all of them; returns the system's error number where that fails.
  static func put(_ bytes: Data, into descriptor: Int32) -> Int32? {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let written = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest))
        if written < 0, errno == EINTR || errno == EAGAIN && waits(for: descriptor) { continue }
        guard written >= 0 else { return errno }
        rest = rest.dropFirst(written)
      }
      return nil
    }
  }

  /// Waits until a descriptor that does not block takes more: the flag belongs to all who have it. False where it cannot
  /// be waited for.
  private static func waits(for descriptor: Int32) -> Bool {
    var wish = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&wish, 1, -1) > 0 || errno == EINTR
  }

  private static func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
      Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    #else
      Darwin.write(descriptor, bytes.baseAddress, bytes.count)
    #endif
  }
}
