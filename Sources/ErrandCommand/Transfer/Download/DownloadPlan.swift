import Errand
import ErrandChecksum
import ErrandTransfer
import Foundation

/// Determines the downloads and their targets from the options.
struct DownloadPlan {
  /// Why no download can start, and the exit status.
  struct Refusal: Error, Equatable, CustomStringConvertible {
    let description: String
    let code: ExitCode
  }

  private let options: DownloadOptions

  init(_ options: DownloadOptions) { self.options = options }

  /// The downloads in the order of the arguments, and why some interrupted downloads are left out.
  func jobs() throws(Refusal) -> (jobs: [DownloadJob], leftOut: [Refusal]) {
    if let output = options.output { return ([try job(to: try file(output))], []) }
    let folder = try folder(options.folder)
    if options.urls.isEmpty { return try interrupted(in: folder) }
    let naming: Download.Naming = options.takesServerName ? .fromServer : .fromURL
    let jobs = options.urls.map { DownloadJob($0, into: folder, named: naming, checksum: options.checksum) }
    for job in jobs { try Self.check(job) }
    try check(jobs)
    return (jobs, [])
  }

  private func job(to file: URL) throws(Refusal) -> DownloadJob {
    if let url = options.urls.first { return DownloadJob(url, to: file, checksum: options.checksum) }
    let jobs = try interrupted(in: file.deletingLastPathComponent()) { $0 == file.path(percentEncoded: false) }.jobs
    guard let job = jobs.first else { throw Self.nothing("at “\(file.lastPathComponent)”") }
    return job.underItsName
  }

  // MARK: - Targets

  /// The file to write. If the path is a symbolic link, the file behind the link is replaced and the link stays.
  /// Devices are rejected.
  private func file(_ path: String) throws(Refusal) -> URL {
    let url = URL(filePath: path, directoryHint: .notDirectory).absoluteURL
    let place = url.resolvingSymlinksInPath()
    let kind = try? FileManager.default.attributesOfItem(atPath: place.path(percentEncoded: false))[.type]
    switch kind as? FileAttributeType {
    case nil, .typeRegular?: return place
    case .typeDirectory?:
      throw Refusal(description: "“\(path)” is a folder; use -d for a folder", code: .usage)
    default:
      throw Refusal(
        description: "“\(path)” is not a regular file; write to it with “errand send URL -o FILE”", code: .usage)
    }
  }

  /// A folder, created if it is missing.
  private func folder(_ path: String?) throws(Refusal) -> URL {
    let url = URL(filePath: path ?? ".", directoryHint: .isDirectory).absoluteURL.standardizedFileURL
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    } catch {
      throw Refusal(description: "The folder “\(path ?? ".")” cannot be created or used.", code: .disk)
    }
    return url
  }

  private static func check(_ job: DownloadJob) throws(Refusal) {
    if job.target != nil { return }
    do {
      _ = try HTTPURL(job.url)
    } catch {
      throw Refusal(description: "\(error)", code: .usage)
    }
    throw Refusal(description: "\(job.name) does not end in a file name; give one with -o.", code: .usage)
  }

  private func check(_ jobs: [DownloadJob]) throws(Refusal) {
    var places: Set<URL> = []
    for job in jobs {
      guard let target = job.target, !places.insert(target).inserted else { continue }
      throw Refusal(
        description: "Two of the URLs end in “\(job.name)”; download one of them separately, with -o.", code: .usage)
    }
  }

  // MARK: - Interrupted downloads

  /// The interrupted downloads that can be resumed without further options; throws if there are none.
  private func interrupted(
    in folder: URL, where isMeant: (String) -> Bool = { _ in true }
  ) throws(Refusal) -> (jobs: [DownloadJob], leftOut: [Refusal]) {
    let parts: [InterruptedPart]
    do {
      parts = try InterruptedPart.all(in: folder.path(percentEncoded: false)).filter { isMeant($0.target) }
    } catch {
      throw Refusal(description: "\(error)", code: .disk)
    }
    var (jobs, leftOut): ([DownloadJob], [Refusal]) = ([], [])
    for part in parts {
      do {
        jobs.append(try job(goingOnWith: part))
      } catch {
        leftOut.append(error)
      }
    }
    if jobs.isEmpty { throw leftOut.first ?? Self.nothing("in that folder") }
    return (jobs, leftOut)
  }

  private static func nothing(_ place: String) -> Refusal {
    Refusal(
      description: "There is no interrupted download \(place); give the URL of a file to download.", code: .notStored)
  }

  private func job(goingOnWith part: InterruptedPart) throws(Refusal) -> DownloadJob {
    let file = URL(filePath: part.target, directoryHint: .notDirectory)
    guard (try? HTTPURL(part.record.request.url)) != nil else {
      let name = file.lastPathComponent
      throw Refusal(
        description: "“\(name)” was started with --resource; give --resource and a URL again.", code: .usage)
    }
    return DownloadJob(
      part.record.request.url, goingOnWith: file, part.record.choices,
      checksum: options.checksum ?? recorded(part.record.checksum))
  }

  /// The checksum that the interrupted download requires.
  private func recorded(_ checksum: RecordedChecksum?) -> Checksum? {
    guard let checksum, let algorithm = [DigestAlgorithm].standard.first(where: { $0.name == checksum.algorithm })
    else { return nil }
    return try? Checksum(algorithm, checksum.hex)
  }
}
