import Errand
import Foundation

/// Tells whether a download has been done already.
enum WholeFile {
  /// The length of the file, where it lies there, nothing is left to go on with, and it has the checksum that was asked
  /// for; else nil.
  static func bytes(of job: DownloadJob) -> Int64? {
    guard !job.isNamedByServer, let target = job.target, job.left == nil, isPlain(target),
      let file = try? FileHandle(forReadingFrom: target)
    else { return nil }
    defer { try? file.close() }
    if let checksum = job.checksum, (try? digest(of: file, checksum)).map(checksum.matches) != true { return nil }
    return (try? file.seekToEnd()).flatMap { Int64(exactly: $0) }
  }

  /// Whether it is a file, or a link to one: a folder has no bytes, and a pipe would be waited for.
  private static func isPlain(_ url: URL) -> Bool {
    (try? url.resolvingSymlinksInPath().resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true
  }

  private static func digest(of file: FileHandle, _ checksum: Checksum) throws -> Data {
    let hash = try checksum.makeHash()
    while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty { piece.withUnsafeBytes { hash.update($0) } }
    return hash.finish()
  }
}
