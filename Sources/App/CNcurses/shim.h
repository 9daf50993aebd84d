#ifndef HEARTH_CNCURSES_SHIM_H
#define HEARTH_CNCURSES_SHIM_H

// Wide functions are declared only if this is defined before the header is read.
#define NCURSES_WIDECHAR 1

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include <ncurses.h>

// The header of the C library hides this one behind a feature macro.
extern int wcwidth(wchar_t);

static inline WINDOW *nc_stdscr(void) { return stdscr; }
static inline int nc_lines(void) { return LINES; }
static inline int nc_columns(void) { return COLS; }
static inline int nc_colors(void) { return COLORS; }

static const attr_t NC_A_BOLD = A_BOLD;
static const attr_t NC_A_DIM = A_DIM;
static const attr_t NC_A_REVERSE = A_REVERSE;
static const attr_t NC_A_UNDERLINE = A_UNDERLINE;

// newterm writes through a stream of its own, so that nothing else shares its buffer.
static inline SCREEN *nc_newterm(const char *type, int output, int input, FILE **out, FILE **in) {
  *out = fdopen(fcntl(output, F_DUPFD_CLOEXEC, 3), "w");
  *in = fdopen(fcntl(input, F_DUPFD_CLOEXEC, 3), "r");
  if (*out == NULL || *in == NULL) return NULL;
  return newterm(type, *out, *in);
}

// Puts UTF-8 text into a row; the pair is an int, since there can be more than 32,767.
static inline int nc_put(WINDOW *w, int y, int x, const char *utf8, int n, attr_t a, int pair) {
  if (wmove(w, y, x) == ERR) return ERR;
  wattr_set(w, a, (short)(pair > 32767 ? 32767 : pair), &pair);
  return waddnstr(w, utf8, n);
}

// A pipe that never blocks and that other programs do not inherit; 0 if there is one.
static inline int nc_pipe(int *reader, int *writer) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  for (int i = 0; i < 2; i++) {
    fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    fcntl(ends[i], F_SETFL, O_NONBLOCK);
  }
  *reader = ends[0];
  *writer = ends[1];
  return 0;
}

// An event counter that never blocks and that other programs do not inherit.
static inline int nc_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

// A pair of descriptors: the end that a terminal emulator holds, and the terminal; 0 if made.
static inline int nc_openpty(int *controller, int *terminal) {
  extern int openpty(int *, int *, char *, const struct termios *, const struct winsize *);
  return openpty(controller, terminal, NULL, NULL, NULL);
}

// Makes one descriptor stand for what another does, and not for other programs; 0 if done.
static inline int nc_redirect(int descriptor, int target) {
  extern int dup3(int, int, int);
  return dup3(target, descriptor, O_CLOEXEC) < 0 ? -1 : 0;
}

// Sends SIGALRM after some milliseconds and then again and again; 0 ends that.
static inline void nc_set_timer(int milliseconds, int interval) {
  struct itimerval timer = {{0, interval * 1000}, {0, milliseconds * 1000}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

// Writes all bytes to a terminal that takes some of them every few milliseconds; 0 if done.
static inline int nc_write_soon(int descriptor, const void *bytes, long count, int milliseconds) {
  int flags = fcntl(descriptor, F_GETFL);
  fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
  while (count > 0) {
    struct pollfd ready = {descriptor, POLLOUT, 0};
    ssize_t written = write(descriptor, bytes, (size_t)count);
    if (written > 0) {
      bytes = (const char *)bytes + written;
      count -= written;
    } else if (errno != EINTR && (errno != EAGAIN || poll(&ready, 1, milliseconds) != 1)) {
      break;
    }
  }
  fcntl(descriptor, F_SETFL, flags);
  return count == 0 ? 0 : -1;
}

// The most rows and columns that are drawn: ncurses has no memory for the largest sizes that can be
// set, and counts in signed numbers of 16 bits.
enum { NC_LARGEST = 2000 };

// The size that the kernel has for the terminal, as far as it is drawn; 0 if it has one.
static inline int nc_terminal_size(int fd, int *rows, int *columns) {
  struct winsize size;
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return -1;
  *rows = size.ws_row < NC_LARGEST ? size.ws_row : NC_LARGEST;
  *columns = size.ws_col < NC_LARGEST ? size.ws_col : NC_LARGEST;
  return 0;
}

// The string capability of that name, or NULL.
static inline const char *nc_string(const char *name) {
  extern char *tigetstr(const char *);
  const char *value = tigetstr(name);
  return value == (const char *)-1 ? NULL : value;
}

// Whether the terminal understands sequences that begin with escape and a bracket.
static inline int nc_is_ansi(void) {
  const char *move = nc_string("cup");
  return move != NULL && move[0] == 27 && move[1] == '[';
}

// Leaves the screen and comes back to it on a terminal that nobody sees; 0 if done.
//
// Until it has come back once, ncurses takes the screen for one that it has not drawn yet, and
// writes each movement of the cursor by itself.
static inline int nc_leave_unseen(int stream) {
  int rows, columns, controller, unseen;
  if (nc_terminal_size(stream, &rows, &columns) != 0) return -1;
  int seen = fcntl(stream, F_DUPFD_CLOEXEC, 3);
  if (seen < 0) return -1;
  if (nc_openpty(&controller, &unseen) != 0) {
    close(seen);
    return -1;
  }
  struct winsize size = {(unsigned short)rows, (unsigned short)columns, 0, 0};
  ioctl(controller, TIOCSWINSZ, &size);
  // What waits in the buffer of ncurses is for the terminal that is seen: either of these writes it.
  if (curs_set(0) == ERR) wrefresh(stdscr);
  int result = nc_redirect(stream, unseen);
  if (result == 0) {
    endwin();
    wrefresh(stdscr);
    // Otherwise the next key that is read would turn this on once more.
    if (is_keypad(stdscr)) keypad(stdscr, TRUE);
    // The terminal that is seen was not cleared.
    clearok(curscr, TRUE);
    result = nc_redirect(stream, seen);
  }
  close(unseen);
  close(controller);
  close(seen);
  return result;
}

static inline int nc_set_cursor(int visibility) { return curs_set(visibility); }

// Whether terminfo knows the type; tells apart "unknown" (0), "cannot be used" (1) and fine (2).
static inline int nc_terminal_is_usable(const char *type, int output) {
  extern int setupterm(const char *, int, int *);
  int problem = 0;
  if (setupterm(type, output, &problem) == ERR) return problem == 1 ? 1 : 0;
  return nc_string("cup") != NULL ? 2 : 1;
}

// Whether the system has been told that the terminal sends UTF-8, as terminals and ssh tell it.
static inline int nc_sends_utf8(int terminal) {
  struct termios modes;
  return tcgetattr(terminal, &modes) == 0 && (modes.c_iflag & IUTF8) != 0;
}

static inline int nc_is_utf8(void) {
  const char *name = nl_langinfo(CODESET);
  return name[0] == 'U' && name[1] == 'T' && name[2] == 'F';
}

#endif
