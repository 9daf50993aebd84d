import BlogSwarm
import HearthProgram
import NIOConcurrencyHelpers

/// A run from the arrival of its users to the last trace that they leave.
struct SwarmOuting {
  private let settings: SwarmSettings
  private let options: SwarmRun.Options
  private let folder: SwarmFolder
  private let visit: SwarmVisit?

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - settings: What the run is to be.
  ///   - options: How it is carried out.
  ///   - folder: Its directory.
  ///   - keeps: Whether what is written at a database elsewhere is to stay there.
  init(
    _ settings: SwarmSettings,
    _ options: SwarmRun.Options,
    _ folder: SwarmFolder,
    keeps: Bool
  ) {
    self.settings = settings
    self.options = options
    self.folder = folder
    visit = options.database.map { SwarmVisit(at: $0, in: folder.path, keeps: keeps) }
  }

  /// Carries the run out, and clears up after it, however it ends.
  ///
  /// - Returns: What it was.
  /// - Throws: What keeps it from being carried out.
  func result() async throws -> SwarmReport {
    let current = NIOLockedValueBox<SwarmRun?>(nil)
    let interruption = SwarmInterruption { [visit, folder] in
      await current.withLockedValue(\.self)?.abandon()
      _ = await visit?.leave(.interrupted)
      folder.remove()
    }
    let watch = interruption.watch()
    defer { watch.cancel() }
    do {
      var settings = settings
      if let visit {
        settings.uids = try await visit.arrive(settings, terminals: options.terminals)
      }
      let run = try SwarmRun(settings, options: options)
      current.withLockedValue { $0 = run }
      var report = try await run.run()
      await interruption.finishIfBegun()
      if await visit?.leave(report.isClean ? .clean : .unclean) == false {
        report.mishaps.append("the swarm has left something in the database")
      }
      return report
    } catch {
      await interruption.finishIfBegun()
      _ = await visit?.leave(.unclean)
      throw error
    }
  }
}
