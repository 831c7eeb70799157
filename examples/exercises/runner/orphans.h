/* orphans: processes that a child left behind and that have left its process group. On Linux a process can
 * ask to become their parent; elsewhere these do nothing, and an orphan runs until its limits end it. */
#ifndef RUNNER_ORPHANS_H
#define RUNNER_ORPHANS_H

void orphans_come_to_me(void);          /* called before each child is started */
void orphans_end(void);                 /* called when it has ended: ends the orphans */
void orphans_die_with_me(void);         /* called in the child: it ends when its parent does */

#endif
