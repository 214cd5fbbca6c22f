import ErrandHTTP
import Testing

struct BodyExpansionTests {
  @Test(arguments: [1, 0, -5, Int.min]) func `ratio below 1 counts as 1`(ratio: Int) throws {
    let expansion = BodyExpansion(ratio: ratio, freeBytes: 10)
    try expansion.check(decoded: 20, coded: 20)
    let failure = #expect(throws: TransportFailure.self) { try expansion.check(decoded: 21, coded: 20) }
    #expect(failure?.kind == .tooLarge)
    #expect(failure?.description.contains("more than 1 times as many") == true)
  }
}
