import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Functions for the standard streams of the process.
enum Terminal {
  enum Stream: Int32, Sendable {
    case output = 1
    case error = 2
  }

  /// Prepares the streams. Must be the first action of the process.
  ///
  /// If a standard stream is closed, its descriptor is opened in such a way that reading and writing fail. Otherwise
  /// the system would give the number of the descriptor to the next opened file or socket, and messages for the stream
  /// would be written there.
  ///
  /// SIGPIPE gets a handler that does nothing. So a write to a pipe without a reader fails, but does not end the
  /// process. The signal is not ignored, because programs that the command starts would then ignore the signal, too.
  static func prepare() {
    for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
    }
    signal(SIGPIPE) { _ in }
  }

  static func isTerminal(_ stream: Stream) -> Bool { isatty(stream.rawValue) == 1 }

  /// The colours for a stream: enabled on a terminal that supports them, unless `NO_COLOR` is set.
  static func paint(
    for stream: Stream, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> Paint {
    Paint(isOn: isTerminal(stream) && wantsColour(environment))
  }

  /// Whether the environment allows colours (no-color.org).
  static func wantsColour(_ environment: [String: String]) -> Bool {
    environment["NO_COLOR", default: ""].isEmpty && movesCursor(environment)
  }

  /// Whether terminals understand escape sequences, such as those that move the cursor, by their name in `TERM`.
  static func movesCursor(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> Bool {
    environment["TERM"] != "dumb"
  }

  static func reportError(_ sentence: String) {
    write("\(paint(for: .error)(.red, "errand:")) \(PlainText.visible(sentence))\n", to: .error)
  }

  /// Reports why a command does not start; returns the exit status. If its arguments are wrong, the report names its
  /// help.
  static func reject(_ error: any Error, of command: String) -> ExitCode {
    reportError("\(error)")
    if let refusal = error as? Refusal { return refusal.code }
    write("See “errand \(command) --help”.\n", to: .error)
    return .usage
  }

  /// Writes text to a stream. Returns nil, or the system's error number if the write fails.
  @discardableResult
  static func write(_ text: String, to stream: Stream = .output) -> Int32? { write(Data(text.utf8), to: stream) }

  /// Writes bytes to a stream. Returns nil, or the system's error number if the write fails.
  @discardableResult
  static func write(_ bytes: Data, to stream: Stream = .output) -> Int32? { put(bytes, into: stream.rawValue) }

  /// Writes the result of the command to standard output; returns the exit status.
  static func show(_ text: String) -> ExitCode { write(text).map(reportWriteFailure) ?? .success }

  /// Reports that standard output could not be written; returns the exit status. If the reader of a pipe has ended
  /// (EPIPE), nothing is reported.
  static func reportWriteFailure(_ code: Int32) -> ExitCode {
    if code != EPIPE { reportError("Standard output cannot be written: \(String(cString: strerror(code))).") }
    return .other
  }

  /// Writes all bytes to a file descriptor. Returns nil, or the system's error number if the write fails.
  static func put(_ bytes: Data, into descriptor: Int32) -> Int32? {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let written = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest))
        if written < 0, errno == EINTR || errno == EAGAIN && waits(for: descriptor, POLLOUT) { continue }
        guard written >= 0 else { return errno }
        rest = rest.dropFirst(written)
      }
      return nil
    }
  }

  /// Waits until a non-blocking descriptor has or accepts bytes: the event is `POLLIN` or `POLLOUT`. Returns false if
  /// waiting fails. The descriptor stays non-blocking, because other processes share this setting.
  static func waits(for descriptor: Int32, _ event: Int32) -> Bool {
    var wish = pollfd(fd: descriptor, events: Int16(event), revents: 0)
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

struct TerminalSize: Sendable, Equatable {
  let columns: Int
  let rows: Int

  /// The size to assume if the size of the terminal is unknown.
  static let usual = TerminalSize(columns: 80, rows: 24)
}

extension TerminalSize {
  /// Determines the present size of a stream's terminal. If the system does not know the size, the environment
  /// variables `COLUMNS` and `LINES` determine the size. Without these variables, the size is ``usual``.
  init(
    of stream: Terminal.Stream, environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    var size = winsize()
    let isKnown = ioctl(stream.rawValue, UInt(TIOCGWINSZ), &size) == 0
    func number(_ known: UInt16, _ variable: String) -> Int? {
      if isKnown, known > 0 { return Int(known) }
      return environment[variable].flatMap { Int($0) }.flatMap { (1...10_000).contains($0) ? $0 : nil }
    }
    columns = number(size.ws_col, "COLUMNS") ?? Self.usual.columns
    rows = number(size.ws_row, "LINES") ?? Self.usual.rows
  }
}

/// Colours text for terminals, or leaves it unchanged.
struct Paint: Sendable {
  /// The styles by their SGR codes (ECMA-48 section 8.3.117).
  enum Style: String, Sendable {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case blue = "34"
    case magenta = "35"
    case cyan = "36"
  }

  let isOn: Bool

  /// A value that leaves all text unchanged.
  static let plain = Paint(isOn: false)

  func callAsFunction(_ style: Style, _ text: String) -> String {
    isOn && !text.isEmpty ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }
}
