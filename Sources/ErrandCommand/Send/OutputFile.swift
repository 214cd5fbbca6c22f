import Foundation

/// A file that appears under its name only when it is whole; what had the name before stays until then.
///
/// What is there and is no ordinary file, such as a device or a named pipe, is written to directly.
struct OutputFile {
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

  /// Opens a new file beside the place.
  init(_ path: String) throws(Failure) {
    var status = stat()
    let isThere = stat(path, &status) == 0
    let isOrdinary = !isThere || status.st_mode & S_IFMT == S_IFREG
    place = isThere ? URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false) : path
    unfinished = isOrdinary ? "\(place).\(UUID().uuidString.prefix(8)).part" : nil
    descriptor = open(unfinished ?? place, O_WRONLY | O_CLOEXEC | (isOrdinary ? O_CREAT | O_EXCL : 0), 0o666)
    guard descriptor >= 0 else { throw Failure(path) }
  }

  /// Gives the file its name.
  func keep() throws(Failure) {
    guard close(descriptor) == 0, unfinished.map({ rename($0, place) == 0 }) ?? true else {
      let failure = Failure(place)
      if let unfinished { unlink(unfinished) }
      throw failure
    }
  }

  /// Removes what was written.
  func discard() {
    close(descriptor)
    if let unfinished { unlink(unfinished) }
  }
}
