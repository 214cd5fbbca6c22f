import ErrandCore
import Foundation

extension BackgroundEngine where Work == BackgroundDownloadWork {
  func start(_ order: BackgroundDownloadHandOver, tag: String?) async throws(APIError) -> BackgroundDownload {
    let wanted = try order.record(id: UUID().uuidString.lowercased(), tag: tag, home: work.home)
    do {
      return try await queue.value { try self.handOver(order, wanted) }
    } catch {
      throw Self.error(error)
    }
  }

  private func handOver(
    _ order: BackgroundDownloadHandOver, _ wanted: BackgroundDownloadState
  ) throws -> BackgroundDownload {
    let target = wanted.target.path(home: work.home)
    switch BackgroundDecision.handOver(wanted, among: records) {
    case .join(let id): if let handle = handle(id) { return handle }
    case .replace(let id): lose(id)
    case .busy:
      throw FileFailure(
        .open, target, .busy, detail: "another background download uses the same target; wait until that download ends")
    case .start: break
    }
    if !order.download.replaces, !order.download.isNamedByServer, try folder.files.status(at: target) != nil {
      throw FileFailure(.open, target, .exists, detail: "the file already exists, and the download does not replace it")
    }
    guard try folder.canPlace(at: target) else {
      throw FileFailure(
        .rename, target, .other, detail: "the target is not on the file system of the folder for background downloads")
    }
    for name in wanted.digests + [wanted.checksum?.algorithm].compactMap({ $0 }) {
      _ = try BackgroundCheck.algorithm(name, in: work.algorithms)
    }
    return try launch(
      wanted, BackgroundOrder(name: wanted.id, request: order.request, network: order.network))
  }
}
