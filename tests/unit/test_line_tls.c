/* Lines under TLS: what libcurl's GnuTLS holds back is seen by line_pending(), and each fault of a certificate is named. The server is Python's. */
#include "daemon/line/line.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { GENEROUS = 30, RECORD = 12000 };

/* Argument: the certificate with its key. Prints its port; logs everybody in, then answers each line by RECORD bytes in one TLS record. */
static const char server_program[] =
    "import socket, ssl, sys\n"
    "context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)\n"
    "context.load_cert_chain(sys.argv[1])\n"
    "listener = socket.create_server(('127.0.0.1', 0))\n"
    "listener.settimeout(120)\n"
    "print(listener.getsockname()[1], flush=True)\n"
    "while True:\n"
    "    plain, _ = listener.accept()\n"
    "    try:\n"
    "        client = context.wrap_socket(plain, server_side=True)\n"
    "        lines = client.makefile('rb')\n"
    "        client.sendall(b'+OK here\\r\\n')\n"
    "        for line in lines:\n"
    "            if line == b'CAPA\\r\\n':\n"
    "                client.sendall(b'+OK\\r\\nSASL PLAIN\\r\\n.\\r\\n')\n"
    "            elif line == b'AUTH PLAIN\\r\\n':\n"
    "                client.sendall(b'+ \\r\\n')\n"
    "            elif line == b'AGNoZXNzAHNlc2FtZQ==\\r\\n':\n"
    "                client.sendall(b'+OK in\\r\\n')\n"
    "            elif line == b'GIVE\\r\\n':\n"
    "                client.sendall(b'x' * 12000)\n"
    "            else:\n"
    "                client.sendall(b'-ERR\\r\\n')\n"
    "    except OSError:\n"
    "        plain.close()\n";

/* In the folder "$1": an authority, and certificates by it of four kinds. */
static const char certificates_program[] =
    "cd \"$1\" && exec >/dev/null 2>&1 && : >index && echo 01 >serial &&\n"
    "printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=index\\nserial=serial\\nnew_certs_dir=.\\ndefault_md=sha256\\npolicy=p\\ncopy_extensions=copy\\nunique_subject=no\\n"
    "[p]\\ncommonName=supplied\\n' >ca.cnf &&\n"
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj '/CN=Club Authority' -keyout ca.key -out ca.pem &&\n"
    "sign() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj \"/CN=$2\" -addext \"subjectAltName=$3\" -keyout $1.key -out $1.csr &&\n"
    "  openssl ca -batch -notext -config ca.cnf -cert ca.pem -keyfile ca.key -in $1.csr -out $1.crt -startdate $4 -enddate $5 && cat $1.crt $1.key >$1.pem; } &&\n"
    "sign good localhost DNS:localhost,IP:127.0.0.1 20200101000000Z 20490101000000Z &&\n"
    "sign other mail.other.example DNS:mail.other.example 20200101000000Z 20490101000000Z &&\n"
    "sign old localhost DNS:localhost 20200101000000Z 20210304050607Z &&\n"
    "sign early localhost DNS:localhost 20480203040506Z 20490101000000Z &&\n"
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj '/CN=lonely' -addext subjectAltName=DNS:localhost -keyout self.key -out self.crt &&\n"
    "cat self.crt self.key >self.pem && umask 077 && echo sesame >secret";

static char folder[] = "/tmp/epistle-tls-XXXXXX";
static char authority[64], secret[64], url[64];
static pid_t server = -1;

static int run(const char *script) {
    pid_t id = fork();
    if (id == 0) {
        execlp("sh", "sh", "-c", script, "sh", folder, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    return id > 0 && waitpid(id, &status, 0) == id ? status : -1;
}

static int make_certificates(void **state) {
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(authority, sizeof authority, "%s/ca.pem", folder);
    snprintf(secret, sizeof secret, "%s/secret", folder);
    return run(certificates_program);
}

static int remove_certificates(void **state) {
    (void)state;
    return run("rm -rf \"$1\"");
}

static void start_server(const char *certificate) {
    int output[2];
    char path[100], text[16] = "";
    snprintf(path, sizeof path, "%s/%s.pem", folder, certificate);
    assert_int_equal(pipe(output), 0);
    server = fork();
    if (server == 0) {
        alarm(120);
        dup2(output[1], STDOUT_FILENO);
        execlp("python3", "python3", "-c", server_program, path, (char *)NULL);
        _exit(127);
    }
    close(output[1]);
    FILE *printed = fdopen(output[0], "r");
    assert_non_null(printed);
    assert_non_null(fgets(text, sizeof text, printed));
    fclose(printed);
    snprintf(url, sizeof url, "pop3s://localhost:%ld", strtol(text, NULL, 10));
}

static int stop_server(void **state) {
    (void)state;
    if (server > 0) {
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
    }
    server = -1;
    return 0;
}

static LineAccount account(void) {
    return (LineAccount){ .url = url, .user = "chess", .secret = { .file = secret }, .ca_file = authority };
}

static void wait_readable(Line *line) {
    struct pollfd ready = { .fd = line_descriptor(line), .events = POLLIN };
    while (!line_pending(line)) /* TLS's own records make it readable too */
        assert_int_equal(poll(&ready, 1, GENEROUS * 1000), 1);
}

static void test_pending(void **state) {
    (void)state;
    start_server("good");
    LineAccount to = account();
    Error error = { 0 };
    Line *line = line_open(&to, &error);
    assert_string_equal(error.text, "");
    assert_non_null(line);
    assert_false(line_pending(line));
    assert_int_equal(line_write(line, "GIVE\r\n", 6, &error), 0);
    wait_readable(line);
    char byte;
    for (int i = 0; i < RECORD; i++) { /* the socket is empty long before the record is */
        if (!line_pending(line))
            wait_readable(line);
        assert_int_equal(line_read(line, &byte, 1, &error), 1);
        assert_int_equal(byte, 'x');
    }
    struct pollfd ready = { .fd = line_descriptor(line), .events = POLLIN };
    assert_false(line_pending(line));
    assert_int_equal(poll(&ready, 1, 0), 0);
    /* One byte taken: all the rest lies in the TLS layer, and the socket says nothing of it. */
    assert_int_equal(line_write(line, "GIVE\r\n", 6, &error), 0);
    assert_int_equal(line_read(line, &byte, 1, &error), 1);
    assert_int_equal(poll(&ready, 1, 0), 0);
    assert_true(line_pending(line));
    line_close(line);
}

static void expect_refused(const char *certificate, const char *ca_file, const char *words) {
    start_server(certificate);
    LineAccount to = account();
    to.ca_file = ca_file;
    Error error = { 0 };
    assert_null(line_open(&to, &error));
    if (strstr(error.text, words) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", words, error.text);
    assert_non_null(strstr(error.text, strchr(url, '/') + 2));
    assert_int_equal(error.grade, ERROR_INPUT);
    stop_server(NULL);
}

static void test_certificates(void **state) {
    (void)state;
    char other[100];
    snprintf(other, sizeof other, "%s/self.crt", folder);
    expect_refused("other", authority, "is not for this name, but for mail.other.example");
    expect_refused("old", authority, "ran out on 2021-03-04 05:06:07 GMT");
    expect_refused("early", authority, "is not valid before 2048-02-03 04:05:06 GMT");
    expect_refused("self", authority, "signed by nobody but itself (\"lonely\")");
    expect_refused("good", NULL, "signed by \"Club Authority\", which this machine does not know");
    expect_refused("good", other, "signed by \"Club Authority\", which is not among those in ca_file");
    expect_refused("good", "/nonexistent/ca.pem", "no certificates to be read in /nonexistent/ca.pem");
}

int main(void) {
    alarm(300); /* what hangs is killed */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_pending, stop_server),
        cmocka_unit_test_teardown(test_certificates, stop_server),
    };
    return cmocka_run_group_tests(tests, make_certificates, remove_certificates);
}
