import Foundation

/// An output file that appears under its name only when it is complete. Until then, an existing file with this name
/// stays unchanged.
///
/// An existing path that is not a regular file, such as a device or a named pipe, is written to directly.
struct OutputFile: Sendable {
  /// The error for a file that cannot be written.
  struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ path: String) { description = "“\(path)” cannot be written: \(String(cString: strerror(errno)))." }
  }

  /// The file descriptor to which the output is written.
  let descriptor: Int32
  /// The final path of the file. If the file exists, symbolic links are resolved.
  let place: String
  /// The temporary path of the incomplete file; nil if the command writes directly to the final path.
  private let unfinished: String?

  /// Creates a new file next to the path, with the permissions of an existing file at the path. If the path exists and
  /// is not a regular file, such as a device, opens the path instead.
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

  /// Closes the complete file and renames it from its temporary path to its final path.
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

  /// Removes the incomplete file without closing it.
  func forget() {
    if let unfinished { unlink(unfinished) }
  }
}
