import ErrandCache
import Testing

@testable import ErrandOutbox

/// Which delivered changes are laid over a response.
struct ResponseMomentTests {
  private static let delivery: Int64 = 1_000_000

  private func lacks(_ moment: ResponseMoment, delivered: Int64?, at now: Int64) -> Bool {
    moment.lacks(7, delivered: delivered.map { WallTime(milliseconds: $0) }, at: WallTime(milliseconds: now))
  }

  /// Milliseconds from the delivery to the request of the response, and to the present.
  @Test(
    arguments: [
      (-1, 0, true), (0, 0, false), (1, 1, false),
      (-86_400_000, 5, true), (Int64.min, 5, true), (Int64.max, 5, false),
      (-1, 86_400_000, true), (-1, 86_400_001, false), (-1, -1, false),
    ] as [(Int64, Int64, Bool)])
  func `older stored response lacks a delivered change`(requested: Int64, now: Int64, expected: Bool) {
    let moment = ResponseMoment.stored(WallTime(milliseconds: Self.delivery).advanced(byMilliseconds: requested))
    #expect(lacks(moment, delivered: Self.delivery, at: Self.delivery + now) == expected)
  }

  @Test(arguments: [([], true), ([7], false), ([6, 8], true)] as [(Set<Int64>, Bool)])
  func `live response lacks later deliveries`(earlier: Set<Int64>, expected: Bool) {
    #expect(lacks(.live(after: earlier), delivered: Self.delivery, at: Self.delivery) == expected)
    #expect(lacks(.live(after: earlier), delivered: Self.delivery, at: 0) == expected)
  }

  @Test(arguments: [.stored(WallTime(milliseconds: .max)), .live(after: [7])] as [ResponseMoment])
  func `every response lacks a waiting change`(moment: ResponseMoment) {
    #expect(lacks(moment, delivered: nil, at: 0))
  }
}
