import Testing

@testable import HearthProgram

@Suite("Pages of code and constants")
struct ProgramPagesTests {
  @Test("Only unmodified pages of programs and libraries are released")
  func constants() {
    let mappings = """
      1000-2000 r-xp 00000000 fe:00 16221877                   /usr/bin/hearth
      Rss:                   4 kB
      Anonymous:             0 kB
      VmFlags: rd ex mr mw me
      2000-3000 r--p 00001000 fe:00 16221877                   /usr/bin/hearth
      Anonymous:             4 kB
      3000-4000 rw-p 00002000 fe:00 16221877                   /usr/bin/hearth
      Anonymous:             0 kB
      4000-5000 rw-p 00000000 00:00 0                          [heap]
      Anonymous:             0 kB
      7f575dc00000-7f575dc99000 r--p 00000000 fe:00 333671     /usr/lib/a library (deleted)
      Anonymous:             0 kB
      7f575dd00000-7f575dd99000 r-xp 00099000 fe:00 333671     /usr/lib/a library (deleted)
      Anonymous:             4 kB
      7f575de00000-7f575de99000 r--p 00000000 fe:00 333672     /usr/lib/locale/locale-archive
      Anonymous:             0 kB
      7ffc01000000-7ffc01002000 r-xp 00000000 00:00 0          [vdso]
      Anonymous:             0 kB
      7ffc02000000-7ffc02002000 r--p 00000000 00:00 0
      Anonymous:             0 kB
      """
    let expected: [Range<UInt>] = [0x1000..<0x2000, 0x7f57_5dc0_0000..<0x7f57_5dc9_9000]
    #expect(ProgramPages.constants(in: mappings) == expected)
  }
}
