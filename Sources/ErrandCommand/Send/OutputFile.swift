import Foundation

/// A file that appears under its name only when it is whole; what had the name before stays until then.
///
/// What is there and is no ordinary file, such as a device or a named pipe, is written to directly.
struct OutputFile: Sendable {
  /// Why the file cannot be written.
  struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ path: String) { description = "“\(path)” cannot be written: \(String(cString: strerror(errno)))." }
  }

  /// The open descriptor to write to.
  let descriptor: Int32
  /// Where it goes.
  let place: String
  /// The name while it is not whole; nil where it is written to directly.
  private let unfinished: String?

  /// Opens a new file beside the place, for those alone whom the one that is there allows to see it.
  init(_ path: String) throws(Failure) {
    var status = stat()
    let isThere = stat(path, &status) == 0
    let isOrdinary = !isThere || status.st_mode & S_IFMT == S_IFREG
    place = isThere ? URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false) : path
    unfinished = isOrdinary ? "\(place).\(UUID().uuidString.prefix(8)).part" : nil
    let mode = isThere ? status.st_mode & 0o777 : 0o666
    descriptor = open(unfinished ?? place, O_WRONLY | O_CLOEXEC | (isOrdinary ? O_CREAT | O_EXCL : 0), mode)
    guard descriptor >= 0 else { throw Failure(path) }
    if isThere, isOrdinary { fchmod(descriptor, mode) }
  }

  /// Gives the file its name.
  func keep() throws(Failure) {
    guard close(descriptor) == 0, unfinished.map({ rename($0, place) == 0 }) ?? true else {
      let failure = Failure(place)
      forget()
      throw failure
    }
  }

  /// Removes what was written.
  func discard() {
    close(descriptor)
    forget()
  }

  /// Takes the name from what was written.
  func forget() {
    if let unfinished { unlink(unfinished) }
  }
}
