import Foundation
import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A program with its own terminal, which is its three standard streams and sends it the signals of keys.
final class TerminalRun {
  /// A failed system call.
  struct Failure: Error {
    let call: String
    let code: Int32
  }

  private let keyboard: Int32
  private let process: pid_t
  private let pieces: AsyncStream<[UInt8]>
  private var isOver = false
  /// All output so far.
  private(set) var output: [UInt8] = []

  /// Runs the command `errand`.
  convenience init(errand words: String..., columns: Int = 100, rows: Int = 24) throws {
    try self.init([BuiltProgram("errand").path] + words, columns: columns, rows: rows)
  }

  /// Runs a program by its path and its arguments.
  init(_ words: [String], columns: Int = 100, rows: Int = 24) throws {
    let terminal = try Self.made(columns: columns, rows: rows)
    keyboard = terminal.keyboard
    // The program opens the terminal by its name.
    defer { close(terminal.screen) }
    do {
      process = try Self.start(words, on: terminal.name)
      pieces = try Self.pieces(of: terminal.keyboard)
    } catch {
      close(terminal.keyboard)
      throw error
    }
  }

  deinit {
    if !isOver {
      // The process leads its own group; when no process has the terminal open any more, the reader ends, too.
      kill(-process, SIGKILL)
      _ = Self.status(of: process)
    }
    close(keyboard)
  }

  /// All output so far, including escape codes.
  var text: String { String(decoding: output, as: UTF8.self) }

  /// The present contents of the terminal.
  var screen: Screen {
    var screen = Screen()
    screen.write(text)
    return screen
  }

  /// Reads until the lines on the terminal match. Returns false if the program ended before.
  func shows(_ isWanted: ([String]) -> Bool) async -> Bool {
    if isWanted(screen.lines) { return true }
    for await piece in pieces {
      output += piece
      if isWanted(screen.lines) { return true }
    }
    return false
  }

  /// Presses Ctrl-C.
  func interrupt() throws {
    guard write(keyboard, [3], 1) == 1 else { throw Failure(call: "write", code: errno) }
  }

  /// Reads to the end; returns the exit status, or the negated number of the signal that ended the program.
  func finish() async -> Int32 {
    for await piece in pieces { output += piece }
    isOver = true
    return Self.status(of: process)
  }

  // MARK: - System calls

  #if canImport(Darwin)
    private static let newSession = POSIX_SPAWN_SETSID
  #else
    /// `POSIX_SPAWN_SETSID`, which Swift does not import.
    private static let newSession: Int32 = 0x80
  #endif

  /// Makes a terminal; returns both of its ends, and its name.
  private static func made(columns: Int, rows: Int) throws -> (keyboard: Int32, screen: Int32, name: String) {
    var (keyboard, screen) = (Int32(-1), Int32(-1))
    var name = [CChar](repeating: 0, count: 1_024)
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = try checked("openpty", openpty(&keyboard, &screen, &name, nil, &size))
    for end in [keyboard, screen] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // The signal of a key must not discard output that was not read yet.
    var settings = termios()
    _ = try checked("tcgetattr", tcgetattr(screen, &settings))
    settings.c_lflag |= tcflag_t(NOFLSH)
    _ = try checked("tcsetattr", tcsetattr(screen, TCSANOW, &settings))
    return (keyboard, screen, String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
  }

  /// Starts a program as the leader of a session. The first terminal that it opens becomes its terminal. Its signal
  /// settings are those of a program started by a shell, not those of the test's thread, which may ignore or block
  /// signals.
  private static func start(_ words: [String], on terminal: String) throws -> pid_t {
    #if canImport(Darwin)
      var (attributes, actions) = (posix_spawnattr_t?.none, posix_spawn_file_actions_t?.none)
    #else
      var (attributes, actions) = (posix_spawnattr_t(), posix_spawn_file_actions_t())
    #endif
    posix_spawnattr_init(&attributes)
    posix_spawn_file_actions_init(&actions)
    defer {
      posix_spawnattr_destroy(&attributes)
      posix_spawn_file_actions_destroy(&actions)
    }
    let flags = newSession | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK)
    posix_spawnattr_setflags(&attributes, Int16(flags))
    var (keys, none) = (sigset_t(), sigset_t())
    sigemptyset(&keys)
    sigaddset(&keys, SIGINT)
    posix_spawnattr_setsigdefault(&attributes, &keys)
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
    for stream in Int32(1)...2 { posix_spawn_file_actions_adddup2(&actions, 0, stream) }
    let environment = ["PATH=/usr/bin:/bin", "SWIFT_BACKTRACE=enable=no", "TERM=xterm"]
    let (arguments, variables) = (words.map { strdup($0) } + [nil], environment.map { strdup($0) } + [nil])
    defer { for text in arguments + variables { free(text) } }
    var process = pid_t()
    let code = posix_spawn(&process, words[0], &actions, &attributes, arguments, variables)
    guard code == 0 else { throw Failure(call: "posix_spawn", code: code) }
    return process
  }

  /// The output of a terminal until no process has it open any more, read by a separate thread.
  private static func pieces(of keyboard: Int32) throws -> AsyncStream<[UInt8]> {
    let source = try checked("fcntl", fcntl(keyboard, F_DUPFD_CLOEXEC, 0))
    let (pieces, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    Thread.detachNewThread {
      var room = [UInt8](repeating: 0, count: 4_096)
      while true {
        let count = read(source, &room, room.count)
        if count < 0, errno == EINTR { continue }
        // If the other end is closed, Linux reports EIO and other systems report the end of file.
        guard count > 0 else { break }
        continuation.yield(Array(room.prefix(count)))
      }
      continuation.finish()
      close(source)
    }
    return pieces
  }

  private static func status(of process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    return signal == 0 ? status >> 8 & 0xFF : -signal
  }

  private static func checked(_ call: String, _ result: Int32) throws -> Int32 {
    if result < 0 { throw Failure(call: call, code: errno) }
    return result
  }
}
