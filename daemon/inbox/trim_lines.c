#include "daemon/inbox/trim_lines.h"

#include "core/base/str.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

static bool is_letter(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (unsigned char)byte >= 0x80;
}

static const char *skip(const char *text, const char *bytes) {
    return text + strspn(text, bytes);
}

/* Where `phrase` stands in `text`, ASCII letters in any case; NULL if nowhere. */
static const char *find(const char *text, const char *phrase) {
    char first = (char)(*phrase | 32);
    for (; *text != 0; text++)
        if ((*text | 32) == first && text_starts_nocase(text, phrase))
            return text;
    return NULL;
}

bool trim_is_quote(const char *line) {
    line = skip(line, " \t");
    if (strcmp(line, ">:") == 0) /* "<john@x", wrapped before its last characters */
        return false;
    if (*line == '>' || strncmp(line, "＞", 3) == 0)
        return true;
    if (*line == '|')
        return line[1] == ' ' || line[1] == 0;
    size_t initials = 0; /* "JD> text" */
    while (initials < 4 && line[initials] >= 'A' && line[initials] <= 'Z')
        initials++;
    return initials >= 2 && line[initials] == '>';
}

bool trim_is_signature(const char *line) {
    return strcmp(line, "--") == 0 || strcmp(line, "—") == 0;
}

bool trim_is_rule(const char *line) {
    line = skip(line, " \t");
    return strlen(line) >= 10 && line[strspn(line, "-_=*")] == 0;
}

bool trim_is_board(const char *line) {
    char next = 'a';
    for (; *line != 0; line++) {
        char byte = (char)(*line >= 'A' && *line <= 'H' ? *line + 32 : *line);
        if (byte == next && next <= 'h')
            next++;
        else if (strchr(" \t|+-:", byte) == NULL)
            return false;
    }
    return next == 'i';
}

/* How the lines begin that telephones and programs put under a letter. */
static const char *const device_begins[] = {
    "sent from", "sent via", "sent with", "sent using", "sent by galaxy", "from my iphone", "get outlook for", "get [outlook",
    "someone from mobile", "gesendet von", "gesendet mit", "von meinem", "von meiner", "diese nachricht wurde von", "hol dir outlook",
    "holen sie sich outlook", "outlook für", "envoyé de ", "envoyé depuis", "envoyé à partir",
    "obtenez outlook", "télécharger outlook", "enviado desde", "enviado do ", "enviado de ", "enviado a partir", "obter o outlook",
    "obtener outlook", "inviato da", "ottieni outlook", "scarica outlook", "verzonden vanaf", "verzonden met", "verzonden vanuit", "verstuurd vanaf",
    "outlook voor", "skickat från", "sendt fra", "hent outlook", "hämta outlook", "lähetetty", "hanki outlook", "wysłano z",
    "wysłane z", "pobierz program outlook", "odesláno z", "elküldve", "Отправлено с ",
    "Отправлено из", "Надіслано з",
    "iphone'umdan", "iphone’umdan", "iphoneから", "发自", "從我的",
    "傳送自", "나의 iphone", "내 iphone",
};

bool trim_is_device(const char *line) {
    line = skip(line, " \t<([*_");
    if (strlen(line) > 160)
        return false;
    for (size_t i = 0; i < COUNT(device_begins); i++)
        if (text_starts_nocase(line, device_begins[i]))
            return true;
    return false;
}

static const char *const originals[] = {
    "original message", "original-nachricht", "originalnachricht", "ursprüngliche nachricht", "message d'origine",
    "message d’origine", "message original", "mensaje original", "mensagem original", "messaggio originale",
    "messaggio originario", "oorspronkelijk bericht", "origineel bericht", "originalmeddelande", "ursprungligt meddelande",
    "oprindelig meddelelse", "opprinnelig melding", "alkuperäinen viesti", "oryginalna wiadomo", "wiadomość oryginalna",
    "wiadomość przekazana", "původní zpráva", "původní e-mail", "eredeti üzenet", "orijinal mesaj", "orijinal ileti",
    "Исходное сообщение",
    "Пересылаемое сообщение",
    "原始邮件", "原始郵件", "元のメッセージ",
    "원본 메시지", "forwarded message", "forwarded by", "weitergeleitete nachricht", "message transf", "message réexpédié",
    "mensaje reenviado", "mensagem encaminhada", "messaggio inoltrato", "doorgestuurd bericht", "vidarebefordrat meddelande", "videresendt", "videresendt melding",
    "välitetty viesti", "přeposlaná zpráva", "továbbított", "reply message",
};

/* The same without dashes, at a line's begin, as Apple Mail has it; a colon ends the line. */
static const char *const forwards[] = {
    "begin forwarded message", "anfang der weitergeleiteten", "début du message", "inicio del mensaje", "início da mensagem",
    "inizio messaggio", "begin doorgestuurd bericht", "vidarebefordrat brev", "start på videresendt",
};

TrimMarker trim_marker(const char *line) {
    const char *inner = skip(line, " \t-_=*#~<>[");
    size_t marks = (size_t)(inner - skip(line, " \t"));
    if (marks >= 2 && (find(inner, "above this line") != NULL || text_starts_nocase(inner, "reply above")))
        return TRIM_ABOVE;
    size_t length = strlen(line);
    bool colon = length > 0 && line[length - 1] == ':';
    for (size_t i = 0; i < COUNT(forwards) && colon; i++)
        if (text_starts_nocase(inner, forwards[i]))
            return TRIM_ORIGINAL;
    if (marks < 3 || length > 100 || strchr("-_=*#~", line[length - 1]) == NULL)
        return TRIM_NO_MARKER;
    for (size_t i = 0; i < COUNT(originals); i++)
        if (text_starts_nocase(inner, originals[i]))
            return TRIM_ORIGINAL;
    return TRIM_NO_MARKER;
}

/* --- what a machine's line holds: a time, a date, an address --- */

static size_t digits_at(const char *text) {
    size_t count = 0;
    while (is_digit(text[count]))
        count++;
    return count;
}

static int number_of(const char *text, size_t digits) {
    int number = 0;
    for (size_t i = 0; i < digits && i < 6; i++)
        number = number * 10 + (text[i] - '0');
    return number;
}

typedef struct Signs {
    bool time, date, address;
} Signs;

/* A number of `digits` digits at `text`: a clock time, a numeric date, a year? */
static void look_at_number(const char *text, size_t digits, Signs *signs, bool *year, bool *day) {
    const char *behind = text + digits;
    int number = number_of(text, digits);
    size_t second = *behind != 0 ? digits_at(behind + 1) : 0;
    if (digits <= 2 && number < 25 && second == 2 && (*behind == ':' || *behind == 'h') && number_of(behind + 1, 2) < 60)
        signs->time = true;
    if (strchr("./-", *behind) != NULL && *behind != 0 && second >= 1 && second <= 2 && behind[1 + second] == *behind) {
        size_t third = digits_at(behind + 2 + second);
        if ((digits <= 2 && (third == 2 || third == 4)) || (digits == 4 && third >= 1 && third <= 2))
            signs->date = true;
    }
    if (digits == 4 && number >= 1990 && number < 2100)
        *year = true;
    if (digits <= 2 && number >= 1 && number <= 31)
        *day = true;
}

static bool address_at(const char *text, const char *at) {
    if (at == text || (!is_letter(at[-1]) && !is_digit(at[-1]) && strchr("._-+\"", at[-1]) == NULL))
        return false;
    if (!is_letter(at[1]) && !is_digit(at[1]))
        return false;
    size_t domain = strcspn(at + 1, " \t<>()\"");
    return memchr(at + 1, '.', domain) != NULL;
}

static Signs signs_of(const char *text) {
    Signs signs = { false, false, false };
    bool year = false, day = false;
    for (const char *at = text; *at != 0; at++) {
        if (*at == '@' && !signs.address)
            signs.address = address_at(text, at);
        if (!is_digit(*at))
            continue;
        size_t digits = digits_at(at);
        bool begins = at == text || (!is_digit(at[-1]) && !((at[-1] >= 'a' && at[-1] <= 'z') || (at[-1] >= 'A' && at[-1] <= 'Z')));
        if (begins)
            look_at_number(at, digits, &signs, &year, &day);
        at += digits - 1;
    }
    signs.date |= year && day;
    return signs;
}

/* --- header blocks --- */

enum { FIELD_NONE = 0, FIELD_FROM = 1, FIELD_DATE = 2, FIELD_TO = 4, FIELD_SUBJECT = 8, FIELD_OTHER = 16 };

static const struct { const char *word; int field; } header_words[] = {
    { "From", FIELD_FROM }, { "Von", FIELD_FROM }, { "De", FIELD_FROM }, { "Da", FIELD_FROM }, { "Van", FIELD_FROM },
    { "Från", FIELD_FROM }, { "Fra", FIELD_FROM }, { "Lähettäjä", FIELD_FROM }, { "Od", FIELD_FROM }, { "Nadawca", FIELD_FROM },
    { "Odesílatel", FIELD_FROM }, { "Feladó", FIELD_FROM }, { "От", FIELD_FROM }, { "Від", FIELD_FROM }, { "Kimden", FIELD_FROM },
    { "差出人", FIELD_FROM }, { "发件人", FIELD_FROM }, { "寄件者", FIELD_FROM },
    { "發件人", FIELD_FROM }, { "보낸 사람", FIELD_FROM }, { "Από", FIELD_FROM },
    { "Expéditeur", FIELD_FROM }, { "Mittente", FIELD_FROM }, { "Remitente", FIELD_FROM },
    { "Sent", FIELD_DATE }, { "Date", FIELD_DATE }, { "Gesendet", FIELD_DATE }, { "Datum", FIELD_DATE }, { "Envoyé", FIELD_DATE },
    { "Envoyé le", FIELD_DATE }, { "Enviado", FIELD_DATE }, { "Enviado el", FIELD_DATE }, { "Fecha", FIELD_DATE }, { "Enviada em", FIELD_DATE },
    { "Enviado em", FIELD_DATE }, { "Enviada", FIELD_DATE }, { "Data", FIELD_DATE }, { "Inviato", FIELD_DATE }, { "Verzonden", FIELD_DATE }, { "Skickat", FIELD_DATE },
    { "Sendt", FIELD_DATE }, { "Dato", FIELD_DATE }, { "Lähetetty", FIELD_DATE }, { "Päiväys", FIELD_DATE }, { "Päivämäärä", FIELD_DATE },
    { "Wysłano", FIELD_DATE }, { "Odesláno", FIELD_DATE }, { "Elküldve", FIELD_DATE }, { "Küldve", FIELD_DATE }, { "Dátum", FIELD_DATE },
    { "Отправлено", FIELD_DATE }, { "Дата", FIELD_DATE },
    { "Надіслано", FIELD_DATE }, { "Gönderildi", FIELD_DATE }, { "Gönderilen", FIELD_DATE }, { "Tarih", FIELD_DATE },
    { "送信日時", FIELD_DATE }, { "日時", FIELD_DATE }, { "日付", FIELD_DATE },
    { "发送时间", FIELD_DATE }, { "日期", FIELD_DATE }, { "寄件日期", FIELD_DATE },
    { "보낸 날짜", FIELD_DATE }, { "날짜", FIELD_DATE }, { "Ημερομηνία", FIELD_DATE },
    { "To", FIELD_TO }, { "An", FIELD_TO }, { "À", FIELD_TO }, { "A", FIELD_TO }, { "Para", FIELD_TO }, { "Aan", FIELD_TO }, { "Till", FIELD_TO },
    { "Til", FIELD_TO }, { "Vastaanottaja", FIELD_TO }, { "Do", FIELD_TO }, { "Komu", FIELD_TO }, { "Címzett", FIELD_TO }, { "Кому", FIELD_TO }, { "Kime", FIELD_TO },
    { "宛先", FIELD_TO }, { "收件人", FIELD_TO }, { "收件者", FIELD_TO }, { "받는 사람", FIELD_TO }, { "Προς", FIELD_TO },
    { "Destinataire", FIELD_TO },
    { "Subject", FIELD_SUBJECT }, { "Betreff", FIELD_SUBJECT }, { "Objet", FIELD_SUBJECT }, { "Asunto", FIELD_SUBJECT }, { "Assunto", FIELD_SUBJECT },
    { "Oggetto", FIELD_SUBJECT }, { "Onderwerp", FIELD_SUBJECT }, { "Ämne", FIELD_SUBJECT }, { "Emne", FIELD_SUBJECT }, { "Aihe", FIELD_SUBJECT }, { "Temat", FIELD_SUBJECT },
    { "Předmět", FIELD_SUBJECT }, { "Tárgy", FIELD_SUBJECT }, { "Тема", FIELD_SUBJECT }, { "Konu", FIELD_SUBJECT }, { "件名", FIELD_SUBJECT },
    { "主题", FIELD_SUBJECT }, { "主旨", FIELD_SUBJECT }, { "제목", FIELD_SUBJECT }, { "Θέμα", FIELD_SUBJECT },
    { "Cc", FIELD_OTHER }, { "Bcc", FIELD_OTHER }, { "Kopie", FIELD_OTHER }, { "Kopia", FIELD_OTHER }, { "Copie", FIELD_OTHER }, { "Kopi", FIELD_OTHER }, { "DW", FIELD_OTHER },
    { "Копия", FIELD_OTHER }, { "抄送", FIELD_OTHER }, { "Reply-To", FIELD_OTHER }, { "Reply To", FIELD_OTHER }, { "Organization", FIELD_OTHER },
    { "Importance", FIELD_OTHER }, { "Attachments", FIELD_OTHER }, { "Message-ID", FIELD_OTHER }, { "X-Mailer", FIELD_OTHER }, { "Newsgroups", FIELD_OTHER },
};

/* Which field a line "*From:* …" is of. */
static int header_word(const char *line) {
    line = skip(line, " \t*");
    size_t length = strcspn(line, ":*\xef"); /* the full-width colon begins with 0xEF */
    while (length > 0 && line[length - 1] == ' ')
        length--;
    if (length == 0 || length > 40)
        return FIELD_NONE;
    const char *colon = skip(line + length, " *");
    if (*colon != ':' && strncmp(colon, "：", 3) != 0)
        return FIELD_NONE;
    for (size_t i = 0; i < COUNT(header_words); i++)
        if ((header_words[i].word[0] | 32) == (*line | 32) && strlen(header_words[i].word) == length && text_starts_nocase(line, header_words[i].word))
            return header_words[i].field;
    return FIELD_NONE;
}

enum {
    BLOCK_LINES_MAX = 24,    /* a To list may wrap over several */
    BLOCK_FOREIGN_LINES = 3, /* in a row without a header word: the rest of a wrapped field */
};

size_t trim_header_block(const TrimLines *lines, size_t at) {
    if ((header_word(lines->text[at]) & (FIELD_FROM | FIELD_DATE | FIELD_TO | FIELD_SUBJECT)) == 0)
        return 0;
    int fields = 0, count = 0, foreign = 0;
    bool sign = false;
    size_t end = at;
    for (size_t i = at; i < lines->count && i < at + BLOCK_LINES_MAX && foreign <= BLOCK_FOREIGN_LINES; i++) {
        const char *line = lines->text[i];
        if (trim_is_quote(line))
            break;
        int field = header_word(line);
        if (field == FIELD_NONE && *line == 0 && (i + 1 == lines->count || header_word(lines->text[i + 1]) == FIELD_NONE))
            break;
        foreign = field == FIELD_NONE && *line != 0 ? foreign + 1 : 0;
        if (field == FIELD_NONE)
            continue;
        count += field != FIELD_OTHER && (fields & field) == 0;
        fields |= field;
        Signs signs = signs_of(line);
        sign |= signs.address || signs.date || signs.time;
        end = i + 1;
    }
    bool block = count >= 3 || (count == 2 && (fields & FIELD_FROM) != 0);
    return block && sign ? end - at : 0;
}

/* --- attributions --- */

/* "wrote" and its kin, lower case where ASCII. */
static const char *const verbs[] = {
    "wrote", "writes", "schrieb", "schreibt", "a écrit", "écrivait", "escribió", "escribio", "escribe", "ha scritto", "scrisse", "scrive",
    "escreveu", "escreveram", "schreef", "geschreven", "skrev", "skrevet", "skriver", "kirjoitti", "napisał", "napisała", "napisał(a)", "pisze", "napsal", "napsala", "napsal(a)", "napísal",
    "írta", "írt", "написал", "пишет", "писал", "пише",
    "написав", "yazdı", "yazıyor", "a scris", "έγραψε",
    "書きました", "のメッセージ", "写道", "寫道", "写到",
    "於", "작성", "님이", "כתב", "kirjutas", "napisao", "napisala", "va escriure",
};

/* How first lines of attributions begin, a blank behind them. */
static const char *const starters[] = {
    "on", "am", "le", "il", "el", "em", "op", "den", "dne", "dnia", "w dniu", "pe", "på", "no dia", "in data", "a ", "в", "В", "от", "在", "於",
    "mon", "tue", "wed", "thu", "fri", "sat", "sun", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    "man.", "tir.", "ons.", "tor.", "fre.", "lør.", "søn.", "mån.", "пн", "вт", "ср", "чт", "пт", "сб", "вс", "quoting", "zitat von", "citation de", "at", "date",
};

static bool has_verb(const char *text) {
    for (size_t i = 0; i < COUNT(verbs); i++) {
        bool word = (unsigned char)verbs[i][0] < 0x80;
        for (const char *at = find(text, verbs[i]); at != NULL; at = find(at + 1, verbs[i])) {
            char before = at == text ? ' ' : at[-1], behind = at[strlen(verbs[i])];
            if (!word || (!is_letter(before) && !is_letter(behind)))
                return true;
        }
    }
    return false;
}

/* Does the line look like the first of an attribution? */
static bool starts_like(const char *line) {
    line = skip(line, " \t-");
    if (is_digit(*line))
        return true;
    for (size_t i = 0; i < COUNT(starters); i++) {
        size_t length = strlen(starters[i]);
        if (text_starts_nocase(line, starters[i]) && (strchr(" ,", line[length]) != NULL || (unsigned char)line[0] >= 0xe0))
            return true;
    }
    const char *open = strchr(line, '<'), *at = strchr(line, '@');
    return open != NULL && at != NULL && open < at;
}

static bool ends_like(const char *text) {
    size_t length = strlen(text);
    while (length > 0 && strchr(" *_-", text[length - 1]) != NULL)
        length--;
    if (length == 0)
        return false;
    if (text[length - 1] == ':' || text[length - 1] == '>')
        return true;
    return (length >= 3 && memcmp(text + length - 3, "：", 3) == 0) || (length >= 5 && text_starts_nocase(text + length - 5, "wrote"));
}

/* "Some One <some@one> wrote:" and nothing else. */
static bool name_address_verb(const char *text) {
    const char *close = strchr(text, '>');
    return close != NULL && strchr(text, '<') != NULL && strlen(close) < 40 && has_verb(close) && text[strlen(text) - 1] == ':';
}

/* Who is written of by a person ("He wrote:", "I wrote:"), in lower case; a mail program writes a name. */
static const char *const pronouns[] = {
    "he", "she", "it", "they", "you", "we", "i", "who", "this", "that", "as", "and", "on", "in", "what", "someone", "somebody", "nobody", "everybody",
    "er", "sie", "es", "ich", "du", "wir", "ihr", "wer", "man", "il", "elle", "on", "je", "tu", "nous", "vous", "ils", "qui", "lui", "lei", "io", "chi",
    "ella", "yo", "ele", "ela", "eu", "hij", "zij", "ze", "ik", "jij", "wij", "wie", "han", "hun", "hon", "jag", "jeg", "hän", "minä", "on", "ona", "ja", "ty",
};

static bool is_pronoun(const char *word, size_t length) {
    for (size_t i = 0; i < COUNT(pronouns); i++)
        if (strlen(pronouns[i]) == length && text_starts_nocase(word, pronouns[i]))
            return true;
    return false;
}

/* "Boris Klein wrote:" and nothing else: one to four words like names before the verb, a colon behind it. */
static bool name_verb(const char *text) {
    enum { NAME_WORDS_MAX = 4, NAME_BYTES_MAX = 60 };
    size_t end = strlen(text), verb = 0;
    if (end == 0 || (text[end - 1] != ':' && (end < 3 || strcmp(text + end - 3, "：") != 0)))
        return false;
    end -= text[end - 1] == ':' ? 1 : 3;
    while (end > 0 && text[end - 1] == ' ')
        end--;
    for (size_t i = 0; i < COUNT(verbs); i++) {
        size_t length = strlen(verbs[i]);
        bool blank = (unsigned char)verbs[i][0] < 0xe0; /* Chinese and its like write none */
        if (end > length + blank && length > verb && text_starts_nocase(text + end - length, verbs[i]) && (!blank || text[end - length - 1] == ' '))
            verb = length;
    }
    if (verb == 0 || end - verb > NAME_BYTES_MAX)
        return false;
    end -= verb;
    int words = 0;
    for (size_t at = 0; at < end;) {
        size_t length = strcspn(text + at, " ");
        if (length > end - at)
            length = end - at;
        const char *word = text + at;
        size_t marks = strspn(word, "\"'(*_");
        bool small = words == 0 && word[marks] >= 'a' && word[marks] <= 'z';
        if (length > 0 && (marks >= length || small || is_digit(word[length - 1]) ||
                           strchr(":;,!?", word[length - 1]) != NULL || is_pronoun(word, length)))
            return false;
        words += length > 0;
        at += length + 1;
    }
    return words >= 1 && words <= NAME_WORDS_MAX;
}

static TrimSurety surety_of(const char *text) {
    size_t length = strlen(text);
    Signs signs = signs_of(text);
    bool quoting = text_starts_nocase(text, "quoting ") || text_starts_nocase(text, "zitat von ") || text_starts_nocase(text, "citation de ");
    if (!signs.address && !signs.date && !signs.time)
        return name_verb(text) ? TRIM_SURE : quoting ? TRIM_NEEDS_QUOTE : TRIM_NO_ATTRIBUTION;
    bool verb = has_verb(text);
    if (text[length - 1] == '>' && !verb)
        return TRIM_NO_ATTRIBUTION; /* "John <john@x>" may stand in any letter */
    if (signs.address && (signs.date || signs.time || name_address_verb(text)))
        return TRIM_SURE;
    return verb || quoting ? TRIM_SURE : TRIM_NO_ATTRIBUTION;
}

enum { ATTRIBUTION_BYTES = 600 };

TrimSurety trim_attribution(const TrimLines *lines, size_t floor, size_t end, size_t *ret_begin) {
    if (!ends_like(lines->text[end]))
        return TRIM_NO_ATTRIBUTION;
    TrimSurety best = TRIM_NO_ATTRIBUTION;
    char joined[ATTRIBUTION_BYTES + 1];
    size_t used = sizeof joined; /* filled from its end, as lines are put before */
    joined[--used] = 0;
    for (size_t n = 0; n < TRIM_ATTRIBUTION_LINES && end >= floor + n; n++) {
        const char *line = skip(lines->text[end - n], " \t");
        size_t length = strlen(line);
        if (length == 0 || trim_is_quote(line) || length + 1 > used)
            break;
        if (n > 0)
            joined[--used] = ' ';
        used -= length;
        memcpy(joined + used, line, length);
        TrimSurety surety = surety_of(joined + used);
        if (surety == TRIM_NO_ATTRIBUTION)
            continue;
        bool first = starts_like(line);
        if (n > 0 && !first && surety == TRIM_SURE && strchr(joined + used, '@') == NULL)
            surety = TRIM_NEEDS_QUOTE; /* a sentence over two lines may hold a date and end in "wrote:" */
        if (best == TRIM_NO_ATTRIBUTION || first) { /* the nearest begin that looks like one; else the nearest */
            best = surety;
            *ret_begin = end - n;
        }
        if (first)
            break;
    }
    return best;
}
