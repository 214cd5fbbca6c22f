import Foundation

/// A file that appears under its name only when it is complete; until then an existing file stays.
///
/// An existing path that is not a regular file, such as a device or a named pipe, is written to directly.
struct OutputFile: Sendable {
  /// Why the file cannot be written.
  struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ path: String) { description = "“\(path)” cannot be written: \(String(cString: strerror(errno)))." }
  }

  /// The descriptor to write to.
  let descriptor: Int32
  /// The path of the file.
  let place: String
  /// The temporary path of the incomplete file; nil if the path is written to directly.
  private let unfinished: String?

  /// Creates a new file next to the path, with the permissions of an existing file at the path. If the path is not a
  /// regular file, opens it instead.
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

  /// Renames the complete file to its path.
  func keep() throws(Failure) {
    guard close(descriptor) == 0, unfinished.map({ rename($0, place) == 0 }) ?? true else {
      let failure = Failure(place)
      forget()
      throw failure
    }
  }

  /// Closes and removes the incomplete file.
  func discard() {
    close(descriptor)
    forget()
  }

  /// Removes the incomplete file.
  func forget() {
    if let unfinished { unlink(unfinished) }
  }
}
