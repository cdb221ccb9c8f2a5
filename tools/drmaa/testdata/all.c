/* Calls every function of drmaa.h as a C program does, and holds what comes of it
   against what should. Ends with 0 when all is right. */
#include "drmaa.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;
static char said[DRMAA_ERROR_STRING_BUFFER];
#define SAID said, sizeof said
#define PATIENCE 120 /* seconds, for what takes a moment */

static void number(int line, const char *call, int got, int want)
{
	if (got != want) {
		fprintf(stderr, "line %d: %s is %d, not %d: %s\n", line, call, got, want, said);
		wrong++;
	}
}

static void text(int line, const char *what, const char *got, const char *want)
{
	if (strcmp(got, want) != 0) {
		fprintf(stderr, "line %d: %s is \"%s\", not \"%s\"\n", line, what, got, want);
		wrong++;
	}
}

#define IS(call, want) (said[0] = 0, number(__LINE__, #call, (call), (want)))
#define OK(call)       IS(call, DRMAA_ERRNO_SUCCESS)
#define TEXT(got, want) text(__LINE__, #got, (got), (want))

static drmaa_job_template_t *template_of(const char *script, const char *how)
{
	drmaa_job_template_t *jt;
	const char *args[] = {"-c", script, NULL};
	OK(drmaa_allocate_job_template(&jt, SAID));
	OK(drmaa_set_attribute(jt, DRMAA_REMOTE_COMMAND, "/bin/sh", SAID));
	OK(drmaa_set_vector_attribute(jt, DRMAA_V_ARGV, args, SAID));
	OK(drmaa_set_attribute(jt, DRMAA_OUTPUT_PATH, ":/dev/null", SAID));
	OK(drmaa_set_attribute(jt, DRMAA_JOIN_FILES, "y", SAID));
	if (how)
		OK(drmaa_set_attribute(jt, DRMAA_NATIVE_SPECIFICATION, how, SAID));
	return jt;
}

static void run(const char *script, const char *how, char *id)
{
	drmaa_job_template_t *jt = template_of(script, how);
	OK(drmaa_run_job(id, DRMAA_JOBNAME_BUFFER, jt, SAID));
	OK(drmaa_delete_job_template(jt, SAID));
}

/* Waits for a state as pollers do. */
static void until(const char *id, int state)
{
	int ps;
	do {
		said[0] = 0;
		if (drmaa_job_ps(id, &ps, SAID) != DRMAA_ERRNO_SUCCESS) {
			fprintf(stderr, "waiting for %s to be %#x: %s\n", id, state, said);
			exit(1);
		}
	} while (ps != state);
}

static void without_session(void)
{
	unsigned major, minor;
	char buffer[DRMAA_CONTACT_BUFFER];
	drmaa_job_template_t *jt;
	drmaa_attr_names_t *names;
	int n;

	OK(drmaa_version(&major, &minor, SAID));
	number(__LINE__, "major", major, 1);
	number(__LINE__, "minor", minor, 0);
	IS(drmaa_version(NULL, NULL, SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
	OK(drmaa_get_contact(buffer, sizeof buffer, SAID));
	TEXT(buffer, "");
	OK(drmaa_get_DRM_system(buffer, sizeof buffer, SAID));
	if (strncmp(buffer, "GE 8.1.9 (Quill ", 16) != 0)
		TEXT(buffer, "GE 8.1.9 (Quill ...)");
	OK(drmaa_get_DRMAA_implementation(buffer, 6, SAID));
	TEXT(buffer, "GE 8.");
	TEXT(drmaa_strerror(DRMAA_ERRNO_NO_ACTIVE_SESSION), "No active session");
	TEXT(drmaa_strerror(DRMAA_ERRNO_NO_MORE_ELEMENTS), "no more elements are contained in the opaque string vector");
	if (drmaa_strerror(DRMAA_NO_ERRNO) != NULL || drmaa_strerror(-1) != NULL)
		TEXT("a text", "NULL");

	IS(drmaa_exit(SAID), DRMAA_ERRNO_NO_ACTIVE_SESSION);
	IS(drmaa_allocate_job_template(&jt, SAID), DRMAA_ERRNO_NO_ACTIVE_SESSION);
	TEXT(said, "No active session");
	IS(drmaa_get_attribute_names(&names, NULL, 0), DRMAA_ERRNO_NO_ACTIVE_SESSION);
	IS(drmaa_job_ps("1", &n, SAID), DRMAA_ERRNO_NO_ACTIVE_SESSION);
	IS(drmaa_control("1", DRMAA_CONTROL_HOLD, SAID), DRMAA_ERRNO_NO_ACTIVE_SESSION);
	IS(drmaa_wait("1", NULL, 0, NULL, 0, NULL, SAID), DRMAA_ERRNO_NO_ACTIVE_SESSION);
	IS(drmaa_init("nonsense", SAID), DRMAA_ERRNO_INVALID_CONTACT_STRING);
}

static void names(void)
{
	drmaa_attr_names_t *all;
	char name[DRMAA_ATTR_BUFFER];
	int n, i;

	OK(drmaa_get_attribute_names(&all, SAID));
	OK(drmaa_get_num_attr_names(all, &n));
	number(__LINE__, "attributes", n, 12);
	for (i = 0; i < n; i++)
		OK(drmaa_get_next_attr_name(all, name, sizeof name));
	TEXT(name, DRMAA_START_TIME);
	IS(drmaa_get_next_attr_name(all, name, sizeof name), DRMAA_ERRNO_NO_MORE_ELEMENTS);
	drmaa_release_attr_names(all);
	IS(drmaa_get_next_attr_name(all, name, sizeof name), DRMAA_ERRNO_INVALID_ARGUMENT);
	drmaa_release_attr_names(NULL);

	OK(drmaa_get_vector_attribute_names(&all, SAID));
	OK(drmaa_get_num_attr_names(all, &n));
	number(__LINE__, "vector attributes", n, 3);
	OK(drmaa_get_next_attr_name(all, name, sizeof name));
	TEXT(name, DRMAA_V_ARGV);
	drmaa_release_attr_names(all);
}

static void attributes(void)
{
	drmaa_job_template_t *jt;
	drmaa_attr_values_t *values;
	const char *two[] = {"A=b=c", "B=", NULL}, *none[] = {NULL};
	char value[DRMAA_ATTR_BUFFER], small[5] = "....";
	int n;

	OK(drmaa_allocate_job_template(&jt, SAID));
	IS(drmaa_allocate_job_template(NULL, SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
	OK(drmaa_set_attribute(jt, DRMAA_REMOTE_COMMAND, "/bin/sleep", SAID));
	OK(drmaa_get_attribute(jt, DRMAA_REMOTE_COMMAND, value, sizeof value, SAID));
	TEXT(value, "/bin/sleep");
	OK(drmaa_get_attribute(jt, DRMAA_REMOTE_COMMAND, small, 4, SAID));
	TEXT(small, "/bi");
	IS(drmaa_get_attribute(jt, DRMAA_WD, value, sizeof value, SAID), DRMAA_ERRNO_INVALID_ATTRIBUTE_VALUE);
	IS(drmaa_set_attribute(jt, DRMAA_REMOTE_COMMAND, NULL, SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
	IS(drmaa_set_attribute(NULL, DRMAA_WD, "/", SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
	IS(drmaa_set_attribute(jt, DRMAA_V_ENV, "A=b", SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
	IS(drmaa_set_attribute(jt, DRMAA_TRANSFER_FILES, "i", SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
	IS(drmaa_set_attribute(jt, DRMAA_JS_STATE, "on", SAID), DRMAA_ERRNO_INVALID_ATTRIBUTE_VALUE);
	IS(drmaa_set_attribute(jt, DRMAA_OUTPUT_PATH, "/tmp", SAID), DRMAA_ERRNO_INVALID_ATTRIBUTE_FORMAT);
	OK(drmaa_set_attribute(jt, DRMAA_START_TIME, "2099/12/31 23:59:59 +01:00", NULL, 0));

	OK(drmaa_set_vector_attribute(jt, DRMAA_V_ENV, two, SAID));
	OK(drmaa_get_vector_attribute(jt, DRMAA_V_ENV, &values, SAID));
	OK(drmaa_get_num_attr_values(values, &n));
	number(__LINE__, "values", n, 2);
	OK(drmaa_get_next_attr_value(values, value, sizeof value));
	TEXT(value, "A=b=c");
	OK(drmaa_get_next_attr_value(values, value, 2));
	TEXT(value, "B");
	IS(drmaa_get_next_attr_value(values, value, sizeof value), DRMAA_ERRNO_NO_MORE_ELEMENTS);
	drmaa_release_attr_values(values);
	IS(drmaa_get_num_attr_values(values, &n), DRMAA_ERRNO_INVALID_ARGUMENT);
	OK(drmaa_set_vector_attribute(jt, DRMAA_V_EMAIL, none, SAID));
	OK(drmaa_get_vector_attribute(jt, DRMAA_V_EMAIL, &values, SAID));
	OK(drmaa_get_num_attr_values(values, &n));
	number(__LINE__, "values", n, 0);
	drmaa_release_attr_values(values);
	IS(drmaa_get_vector_attribute(jt, DRMAA_V_ARGV, &values, SAID), DRMAA_ERRNO_INVALID_ATTRIBUTE_VALUE);
	IS(drmaa_set_vector_attribute(jt, DRMAA_WD, two, SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
	IS(drmaa_set_vector_attribute(jt, DRMAA_V_ENV, NULL, SAID), DRMAA_ERRNO_INVALID_ARGUMENT);

	/* Many and long values. */
	{
		static char word[100000];
		static const char *many[10001];
		for (n = 0; n < 10000; n++)
			many[n] = "x";
		memset(word, 'w', sizeof word - 1);
		many[9999] = word;
		OK(drmaa_set_vector_attribute(jt, DRMAA_V_ARGV, many, SAID));
		OK(drmaa_get_vector_attribute(jt, DRMAA_V_ARGV, &values, SAID));
		OK(drmaa_get_num_attr_values(values, &n));
		number(__LINE__, "values", n, 10000);
		drmaa_release_attr_values(values);
	}

	OK(drmaa_delete_job_template(jt, SAID));
	IS(drmaa_delete_job_template(jt, SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
	IS(drmaa_delete_job_template(NULL, SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
}

static void ends(void)
{
	char id[DRMAA_JOBNAME_BUFFER], out[DRMAA_JOBNAME_BUFFER], value[DRMAA_ATTR_BUFFER], sig[DRMAA_SIGNAL_BUFFER];
	drmaa_attr_values_t *usage;
	int stat, n, found = 0;

	run("exit 7", NULL, id);
	OK(drmaa_wait(id, out, sizeof out, &stat, DRMAA_TIMEOUT_WAIT_FOREVER, &usage, SAID));
	TEXT(out, id);
	while (drmaa_get_next_attr_value(usage, value, sizeof value) == DRMAA_ERRNO_SUCCESS)
		found += !strcmp(value, "exit_status=7.0000") + !strncmp(value, "ru_wallclock=", 13) + !strncmp(value, "cpu=", 4);
	number(__LINE__, "known usage", found, 3);
	drmaa_release_attr_values(usage);
	OK(drmaa_wifexited(&n, stat, SAID));
	number(__LINE__, "exited", n, 1);
	OK(drmaa_wexitstatus(&n, stat, SAID));
	number(__LINE__, "exit status", n, 7);
	OK(drmaa_wifsignaled(&n, stat, SAID));
	number(__LINE__, "signaled", n, 0);
	OK(drmaa_wifaborted(&n, stat, SAID));
	number(__LINE__, "aborted", n, 0);
	IS(drmaa_wait(id, NULL, 0, NULL, 0, NULL, SAID), DRMAA_ERRNO_INVALID_JOB);

	run("kill -TERM $$", NULL, id);
	OK(drmaa_wait(DRMAA_JOB_IDS_SESSION_ANY, out, sizeof out, &stat, PATIENCE, NULL, SAID));
	TEXT(out, id);
	OK(drmaa_wifexited(&n, stat, SAID));
	number(__LINE__, "exited", n, 0);
	OK(drmaa_wifsignaled(&n, stat, SAID));
	number(__LINE__, "signaled", n, 1);
	OK(drmaa_wtermsig(sig, sizeof sig, stat, SAID));
	TEXT(sig, "SIGTERM");
	OK(drmaa_wcoredump(&n, stat, SAID));
	number(__LINE__, "core dumped", n, 0);
	IS(drmaa_wifexited(NULL, stat, SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
	IS(drmaa_wait(DRMAA_JOB_IDS_SESSION_ANY, NULL, 0, NULL, PATIENCE, NULL, SAID), DRMAA_ERRNO_INVALID_JOB);
}

static void control(void)
{
	char id[DRMAA_JOBNAME_BUFFER];
	drmaa_attr_values_t *usage;
	int stat, n;

	run("sleep 1000", NULL, id);
	until(id, DRMAA_PS_RUNNING);
	IS(drmaa_wait(id, NULL, 0, NULL, DRMAA_TIMEOUT_NO_WAIT, NULL, SAID), DRMAA_ERRNO_EXIT_TIMEOUT);
	IS(drmaa_wait(id, NULL, 0, NULL, 1, NULL, SAID), DRMAA_ERRNO_EXIT_TIMEOUT);
	IS(drmaa_control(id, DRMAA_CONTROL_RESUME, SAID), DRMAA_ERRNO_RESUME_INCONSISTENT_STATE);
	OK(drmaa_control(id, DRMAA_CONTROL_SUSPEND, SAID));
	OK(drmaa_job_ps(id, &n, SAID));
	number(__LINE__, "state", n, DRMAA_PS_USER_SUSPENDED);
	IS(drmaa_control(id, DRMAA_CONTROL_SUSPEND, SAID), DRMAA_ERRNO_SUSPEND_INCONSISTENT_STATE);
	OK(drmaa_control(DRMAA_JOB_IDS_SESSION_ALL, DRMAA_CONTROL_RESUME, SAID));
	until(id, DRMAA_PS_RUNNING);
	OK(drmaa_control(id, DRMAA_CONTROL_TERMINATE, SAID));
	OK(drmaa_wait(id, NULL, 0, &stat, PATIENCE, NULL, SAID));
	OK(drmaa_wifaborted(&n, stat, SAID));
	number(__LINE__, "aborted", n, 1);

	run("exit 0", " -h", id);
	until(id, DRMAA_PS_USER_ON_HOLD);
	OK(drmaa_control(id, DRMAA_CONTROL_HOLD, SAID));
	OK(drmaa_control(id, DRMAA_CONTROL_RELEASE, SAID));
	until(id, DRMAA_PS_DONE);
	OK(drmaa_wait(id, NULL, 0, &stat, PATIENCE, NULL, SAID));

	run("exit 0", "-h", id);
	OK(drmaa_control(DRMAA_JOB_IDS_SESSION_ALL, DRMAA_CONTROL_TERMINATE, SAID));
	until(id, DRMAA_PS_FAILED);
	usage = (drmaa_attr_values_t *)&n;
	IS(drmaa_wait(id, NULL, 0, &stat, PATIENCE, &usage, SAID), DRMAA_ERRNO_NO_RUSAGE);
	OK(drmaa_wifaborted(&n, stat, SAID));
	number(__LINE__, "aborted", n, 1);
	if (usage != NULL)
		TEXT("usage", "NULL");

	run("exit 0", "-h", id);
	OK(drmaa_control(id, DRMAA_CONTROL_TERMINATE, SAID));
	OK(drmaa_wait(id, NULL, 0, &stat, PATIENCE, NULL, SAID));
	OK(drmaa_wifaborted(&n, stat, SAID));
	number(__LINE__, "aborted", n, 1);

	IS(drmaa_control("999", DRMAA_CONTROL_SUSPEND, SAID), DRMAA_ERRNO_INVALID_JOB);
	IS(drmaa_control("x", DRMAA_CONTROL_SUSPEND, SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
	IS(drmaa_control(id, 9, SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
	IS(drmaa_control(NULL, DRMAA_CONTROL_HOLD, SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
	IS(drmaa_job_ps("999", &n, SAID), DRMAA_ERRNO_INVALID_JOB);
	IS(drmaa_job_ps("999", NULL, SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
	OK(drmaa_control(DRMAA_JOB_IDS_SESSION_ALL, DRMAA_CONTROL_SUSPEND, SAID));
}

static void bulk(void)
{
	drmaa_job_template_t *jt = template_of("exit $SGE_TASK_ID", NULL);
	drmaa_job_ids_t *ids;
	const char *list[4] = {NULL}, *all[] = {DRMAA_JOB_IDS_SESSION_ALL, NULL};
	char id[3][DRMAA_JOBNAME_BUFFER];
	int n, stat;

	OK(drmaa_run_bulk_jobs(&ids, jt, 2, 6, 2, SAID));
	OK(drmaa_get_num_job_ids(ids, &n));
	number(__LINE__, "tasks", n, 3);
	for (n = 0; n < 3; n++) {
		OK(drmaa_get_next_job_id(ids, id[n], sizeof id[n]));
		list[n] = id[n];
	}
	IS(drmaa_get_next_job_id(ids, id[2], sizeof id[2]), DRMAA_ERRNO_NO_MORE_ELEMENTS);
	drmaa_release_job_ids(ids);
	IS(drmaa_get_num_job_ids(ids, &n), DRMAA_ERRNO_INVALID_ARGUMENT);
	OK(drmaa_synchronize(list, PATIENCE, 0, SAID));
	OK(drmaa_wait(id[1], NULL, 0, &stat, 0, NULL, SAID));
	OK(drmaa_wexitstatus(&n, stat, SAID));
	number(__LINE__, "exit status", n, 4);
	OK(drmaa_synchronize(all, DRMAA_TIMEOUT_WAIT_FOREVER, 1, SAID));
	IS(drmaa_wait(id[0], NULL, 0, &stat, 0, NULL, SAID), DRMAA_ERRNO_INVALID_JOB);
	IS(drmaa_synchronize(NULL, 0, 0, SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
	IS(drmaa_run_bulk_jobs(&ids, jt, 0, 6, 2, SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
	IS(drmaa_run_bulk_jobs(NULL, jt, 1, 6, 2, SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
	IS(drmaa_run_job(NULL, 0, jt, SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
	OK(drmaa_set_attribute(jt, DRMAA_NATIVE_SPECIFICATION, "-q nosuch.q", SAID));
	IS(drmaa_run_job(id[0], sizeof id[0], jt, SAID), DRMAA_ERRNO_DENIED_BY_DRM);
	TEXT(said, "Job was rejected because job requests unknown queue \"nosuch.q\"");
	OK(drmaa_delete_job_template(jt, SAID));
	IS(drmaa_run_job(id[0], sizeof id[0], jt, SAID), DRMAA_ERRNO_INVALID_ARGUMENT);
}

/* The environment is the caller's of now, not of when the library was loaded. */
static void environment(void)
{
	char id[DRMAA_JOBNAME_BUFFER];
	int stat, n;

	setenv("LATE", "9", 1);
	run("exit $LATE", "-v LATE", id);
	OK(drmaa_wait(id, NULL, 0, &stat, PATIENCE, NULL, SAID));
	OK(drmaa_wexitstatus(&n, stat, SAID));
	number(__LINE__, "exit status", n, 9);
}

static void *worker(void *job)
{
	char id[DRMAA_JOBNAME_BUFFER], why[DRMAA_ERROR_STRING_BUFFER];
	int i;

	for (i = 0; i < 5; i++) {
		if (drmaa_run_job(id, sizeof id, job, why, sizeof why) != 0 || drmaa_wait(id, NULL, 0, NULL, PATIENCE, NULL, why, sizeof why) != 0) {
			fprintf(stderr, "worker: %s\n", why);
			return "failed";
		}
	}
	return NULL;
}

static void *waiter(void *id)
{
	return (void *)(long)drmaa_wait(id, NULL, 0, NULL, DRMAA_TIMEOUT_WAIT_FOREVER, NULL, NULL, 0);
}

static void *synchronizer(void *id)
{
	const char *all[] = {id, NULL};
	return (void *)(long)drmaa_synchronize(all, DRMAA_TIMEOUT_WAIT_FOREVER, 0, NULL, 0);
}

static void threads(void)
{
	pthread_t t[6];
	char id[DRMAA_JOBNAME_BUFFER], contact[DRMAA_CONTACT_BUFFER];
	drmaa_job_template_t *jt = template_of("exit 0", NULL);
	void *result;
	int i, stat;

	for (i = 0; i < 6; i++)
		pthread_create(&t[i], NULL, worker, jt);
	for (i = 0; i < 6; i++) {
		pthread_join(t[i], &result);
		if (result != NULL)
			TEXT(result, "done");
	}
	OK(drmaa_delete_job_template(jt, SAID));

	run("sleep 1000", NULL, id);
	OK(drmaa_get_contact(contact, sizeof contact, SAID));
	pthread_create(&t[0], NULL, waiter, id);
	pthread_create(&t[1], NULL, waiter, DRMAA_JOB_IDS_SESSION_ANY);
	pthread_create(&t[2], NULL, synchronizer, DRMAA_JOB_IDS_SESSION_ALL);
	until(id, DRMAA_PS_RUNNING);
	OK(drmaa_exit(SAID));
	for (i = 0; i < 3; i++) {
		pthread_join(t[i], &result);
		number(__LINE__, "a waiter", (int)(long)result, DRMAA_ERRNO_NO_ACTIVE_SESSION);
	}
	IS(drmaa_exit(SAID), DRMAA_ERRNO_NO_ACTIVE_SESSION);

	OK(drmaa_init(contact, SAID));
	OK(drmaa_control(id, DRMAA_CONTROL_TERMINATE, SAID));
	OK(drmaa_wait(DRMAA_JOB_IDS_SESSION_ANY, NULL, 0, &stat, PATIENCE, NULL, SAID));
}

int main(void)
{
	without_session();
	OK(drmaa_init(NULL, SAID));
	IS(drmaa_init(NULL, SAID), DRMAA_ERRNO_ALREADY_ACTIVE_SESSION);
	names();
	attributes();
	ends();
	control();
	bulk();
	environment();
	threads();
	OK(drmaa_exit(SAID));
	return wrong != 0;
}
