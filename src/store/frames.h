/* frames.h - SQLite's file layer, but for one thing: a frame of a WAL is written with one call instead of two.

   SQLite writes the head of a frame and then its page.  Each call into the system costs more than all the work that
   SQLite has with the frame, and a commit of one step is one frame. */
#ifndef RONDO_FRAMES_H
#define RONDO_FRAMES_H

/* The layer's name, for sqlite3_open_v2(); NULL, which is SQLite's own one, when it could not be made.  It lies over
   what was the default when this was first called. */
const char *frames_vfs(void);

#endif
