/* page_run: a training run in a page: what train does, a slice at a time, and without files. The run has, bit
 * for bit, the numbers of
 *
 *     GRADUS_ISA=base build/train --data TEXT FLAGS
 *
 * In the module page_open is called run_open, and so on. A function that fails returns -1 or
 * NULL, and page_why then returns a sentence. A text lives until the next call. */
#ifndef EXAMPLES_PAGE_RUN_H
#define EXAMPLES_PAGE_RUN_H

/* Opens a run and closes the one before. flags: as train takes them; text: n bytes; broken: see broken.h. */
int   page_open(const char *flags, const char *text, int n, int broken);       /* 0 or -1 */
char *page_why(void);                   /* the last warning */

/* Trains for at most so many steps. Returns the number of steps; 0 at the end of the run. */
int   page_train(int steps);

/* From the next step on, training uses the schedule of this learning rate, and so many windows or lines. 0 or
 * -1 */
int   page_change(double lr, int rows);

/* JSON: {"step":50,"steps":400,"rows":[[step,train_loss,val_loss|null,grad_norm,lr],...],
 * "kept":[0,8,16,...],"vocab":24,"parameters":26016}
 * rows: those since the last call; kept: the steps whose parameters page_look has, the last of which is the
 * current one. */
char *page_news(void);

/* A moment: the model with the parameters that were kept nearest to that step. Looking changes nothing in the
 * training.
 *
 *     {"step":50,"norms":[{"name":"tok_emb","grad":0.01,"ratio":0.003},...],"sample":"...","page":{...}}
 *
 * norms: of each layer, the norm of the gradient in that step, before clipping, and |update| / |values|;
 * sample: as sample.txt would be; page: the data of examples/look, forward and backward of the prompt, or
 * null: page_why. */
char *page_look(int step, const char *prompt);

/* {"next":[["t",0.31],...],"text":"..."}: what continues the prompt; next: the likeliest tokens after it,
 * with the probabilities that temperature, top_k and top_p leave. */
char *page_write(int step, const char *prompt, int more, double temperature, int top_k, double top_p,
                 int seed);

char *page_loss_tsv(void);              /* loss.tsv so far, with an empty column tokens_per_s */
char *page_vocab_tsv(void);
unsigned char *page_save(void);         /* model.safetensors, page_saved_size() bytes */
int   page_saved_size(void);
int   page_load(const unsigned char *file, int n);      /* into the open model, which -1 leaves as it was */

#endif
