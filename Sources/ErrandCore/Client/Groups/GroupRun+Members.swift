/// Sends the calls that are members of a group, and runs nested groups.
extension GroupRun: GroupRunning {
  func send<R: APIRequest>(_ request: R, _ options: CallOptions) async throws(APIError) -> R.Response {
    let typed = TypedCall(request)
    let (ending, place) = await carryOut(typed, options)
    do throws(APIError) {
      return try typed.value(of: ending)
    } catch {
      throw namingMember(error, place, MemberName(of: request))
    }
  }

  func outcome<R: APIRequest>(of request: R, _ options: CallOptions) async -> Outcome<R.Response> {
    let typed = TypedCall(request)
    let (ending, place) = await carryOut(typed, options)
    let outcome = typed.outcome(ending)
    return outcome.with(outcome.result.mapError { namingMember($0, place, MemberName(of: request)) })
  }

  func outcome<G: CallGroup>(of group: G, _ options: GroupOptions) async -> GroupOutcome<G.Response> {
    let inner = GroupRun(group.kind, group.name, options, client, parent: self)
    let place = record.begin(MemberName(inner.info), inner.state, inner.record)
    let outcome = await inner.outcome(of: group)
    end(place, outcome.error.map { .failed($0) } ?? .done, outcome.report)
    return GroupOutcome(
      result: outcome.result.mapError { namingMember($0, place, MemberName(inner.info)) }, report: outcome.report)
  }

  func chain<Value, Failure>(
    _ options: GroupOptions, _ steps: (GroupScope) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let inner = GroupRun(.chain, Self.inlineName, options, client, parent: self)
    let place = record.begin(MemberName(inner.info), inner.state, inner.record)
    do throws(Failure) {
      let value = try await inner.inline(steps)
      end(place, inner.endState(nil), inner.report)
      return value
    } catch {
      let known = inner.mapping(error)
      end(place, inner.endState(known), inner.report)
      guard error is APIError, let named = namingMember(known, place, MemberName(inner.info)) as? Failure else {
        throw error
      }
      throw named
    }
  }

  /// The final state of this chain in the report of its outer group. A closure that cannot throw the error of a stopped
  /// chain returns its value or throws its own error, but the chain has ended with the error of the stop.
  ///
  /// - Parameter error: The error that the closure threw; nil if the closure returned a value.
  private func endState(_ error: APIError?) -> GroupReport.State {
    let ending = applyStop(to: GroupOutcome<Void>(error: error, report: report), by: state.endsBy)
    return ending.error.map { .failed($0) } ?? .done
  }

  private func carryOut<R: APIRequest>(
    _ typed: TypedCall<R>, _ options: CallOptions
  ) async -> (Outcome<Void>, place: Int?) {
    let meter = meter()
    var options = self.options.forMember(options)
    options.requiredAccount = requiredAccount
    options.isMember = !isRefused
    let call = client.run(typed, options, onProgress: meter?.listener)
    if call.download != nil { meter?.keepsParts() }
    let place = record.begin(MemberName(of: typed.request), call.state)
    let result = await client.listen(to: call, in: state)
    let ending = call.finish(result) { $0 }
    end(place, GroupReport.State(ending))
    return (ending, place)
  }
}

extension GroupReport.State {
  fileprivate init(_ ending: Outcome<Void>) {
    if let error = ending.error {
      self = .failed(error)
    } else {
      self = .answered(ending.origin ?? .local, isJoined: ending.metrics.isJoined)
    }
  }
}
