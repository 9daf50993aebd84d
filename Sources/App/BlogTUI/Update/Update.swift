/// Changes the model as the event demands, and tells what has to be done outside of it.
///
/// - Parameters:
///   - model: What is on the screen.
///   - event: What happened.
/// - Returns: What the program has to do, in order.
package func update(_ model: inout Model, _ event: Event) -> [Effect] {
  handle(event, &model) + model.hearNotices() + model.watchComments()
}

private func handle(_ event: Event, _ model: inout Model) -> [Effect] {
  switch event {
  case .started:
    return model.select(tab: model.tab)
  case .key(let key):
    return model.handle(key)
  case .blog(let event):
    return model.handle(event)
  case .tick(let now):
    return model.pass(to: now)
  case .posted(let id):
    return model.showPosted(id)
  case .commented(let id, let comment):
    if model.openPost?.id == id { model.openPost?.await(comment: comment) }
    return []
  case .resumed:
    return [.redraw]
  case .edited(let draft):
    model.takeEdited(draft)
    return []
  case .succeeded(let text):
    model.message = .note(text)
    return []
  case .failed(let text):
    model.message = .failure(text)
    return []
  case .configured(let configuration):
    return model.apply(configuration)
  case .wire(let events):
    model.inspector.add(events)
    return []
  case .command(let text):
    return model.run(text)
  }
}
