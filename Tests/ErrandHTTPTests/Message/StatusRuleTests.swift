import ErrandHTTP
import Testing

struct StatusRuleTests {
  @Test func `success is 200 to 299`() {
    #expect([199, 200, 204, 299, 300, 404].map(StatusRule.success.accepts) == [false, true, true, true, false, false])
  }

  @Test func `rules can be combined`() {
    let rule: StatusRule = [200, 404]
    #expect([200, 201, 404].map(rule.accepts) == [true, false, true])
    let wide = StatusRule.success.or([304]).or(.range(400...403))
    #expect([204, 304, 402, 404].map(wide.accepts) == [true, true, true, false])
    #expect([100, 418, 599].allSatisfy(StatusRule.any.accepts))
    #expect(!([] as StatusRule).accepts(200))
  }

  @Test func `only bodies of errors may be cut`() {
    #expect([200, 399, 400, 599].map(StatusRule.mayBeCut) == [false, false, true, true])
  }

  @Test func `rules have readable descriptions`() {
    #expect(StatusRule.success.description == "200–299")
    #expect(StatusRule.success.or([404]).description == "200–299, 404")
  }
}
