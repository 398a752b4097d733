#include "core/notation/language.h"

#include "core/base/str.h"

#include <string.h>

/* Law E prints its words without umlauts; they are written as it has them. */
static const SpokenWords law_e = {
    .files = { "Anna", "Bella", "Cesar|Cäsar", "David", "Eva", "Felix", "Gustav", "Hector|Hektor" },
    .ranks = { "eins", "zwei|zwo", "drei", "vier", "fuenf", "sechs", "sieben", "acht" },
    .men = { [PAWN] = "Bauer|Bauern", [KNIGHT] = "Springer|Pferd|Rössl", [BISHOP] = "Laeufer", [ROOK] = "Turm", [QUEEN] = "Dame",
             [KING] = "Koenig" },
    .castling = { "lange Rochade|große Rochade|Rochade lang|rochiere lang|rochiert lang|lang rochiert",
                  "kurze Rochade|kleine Rochade|Rochade kurz|rochiere kurz|rochiert kurz|kurz rochiert" },
    .from = "von|vom", .to = "nach|auf|zu|zieht nach|geht nach", .takes = "schlaegt|schlägt auf|nimmt|nimmt auf",
    .becomes = "wird|wird zu|wird zur|wird zum|Umwandlung|Umwandlung in|Umwandlung in eine|Umwandlung in einen|gleich|und wird",
    .en_passant = "en passant|im Vorbeigehen", .check = "Schach|und Schach|mit Schach", .mate = "matt|Schachmatt|Schach matt|und matt|Schach und matt",
    .idle = "der|die|das|den|mein|meine|eine|einen|Feld",
};

static const SpokenWords english = {
    .files = { "Anna", "Bella", "Cesar|Caesar", "David", "Eva", "Felix", "Gustav", "Hector" },
    .ranks = { "one", "two", "three", "four", "five", "six", "seven", "eight" },
    .men = { [PAWN] = "pawn", [KNIGHT] = "knight|horse", [BISHOP] = "bishop", [ROOK] = "rook|castle", [QUEEN] = "queen", [KING] = "king" },
    .castling = { "long castling|castles queen side|castles queenside|castle queen side|castle queenside|queen side castling|queenside castling|"
                  "queen side castles|queenside castles|castles long|castle long|long castle|castles on the queen side",
                  "short castling|castles king side|castles kingside|castle king side|castle kingside|king side castling|kingside castling|"
                  "king side castles|kingside castles|castles short|castle short|short castle|castles on the king side" },
    .from = "from|on|at", .to = "to|goes to|moves to", .takes = "takes|captures|takes on|captures on",
    .becomes = "becomes|becomes a|promotes to|promotes to a|promoting to|promoting to a|promotion|promotion to|equals|makes a|and becomes a",
    .en_passant = "en passant|in passing", .check = "check|with check|and check",
    .mate = "checkmate|check mate|mate|with mate|and mate|with checkmate|and checkmate", .idle = "the|my|square",
};

static const SpokenWords french = {
    .files = { "Anna", "Bella", "Cesar", "David", "Eva", "Felix", "Gustav", "Hector" },
    .ranks = { "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit" },
    .men = { [PAWN] = "pion", [KNIGHT] = "cavalier", [BISHOP] = "fou", [ROOK] = "tour", [QUEEN] = "dame|reine", [KING] = "roi" },
    .castling = { "grand roque", "petit roque" },
    .from = "de", .to = "en|à|va en|va à", .takes = "prend|prend en|mange|pris", .becomes = "devient|promotion|promotion en|égale",
    .en_passant = "en passant", .check = "échec|et échec", .mate = "mat|échec et mat|et mat", .idle = "le|la|au|du",
};

static const SpokenWords spanish = {
    .files = { "Anna|Ana", "Bella", "Cesar", "David", "Eva", "Felix", "Gustav|Gustavo", "Hector" },
    .ranks = { "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho" },
    .men = { [PAWN] = "peón", [KNIGHT] = "caballo", [BISHOP] = "alfil", [ROOK] = "torre", [QUEEN] = "dama|reina", [KING] = "rey" },
    .castling = { "enroque largo", "enroque corto" },
    .from = "de|desde", .to = "a|va a", .takes = "captura|captura en|toma|toma en|come|come en|por", .becomes = "corona|corona en|igual a|promociona a|se convierte en",
    .en_passant = "al paso", .check = "jaque|y jaque|con jaque", .mate = "mate|jaque mate|jaquemate|y mate", .idle = "el|la|mi",
};

static const SpokenWords italian = {
    .files = { "Anna", "Bella", "Cesar|Cesare", "David", "Eva", "Felix", "Gustav", "Hector" },
    .ranks = { "uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto" },
    .men = { [PAWN] = "pedone", [KNIGHT] = "cavallo", [BISHOP] = "alfiere", [ROOK] = "torre", [QUEEN] = "donna|regina", [KING] = "re" },
    .castling = { "arrocco lungo", "arrocco corto" },
    .from = "da", .to = "in|va in", .takes = "prende|prende in|cattura|mangia|per", .becomes = "diventa|promuove a|promozione a|uguale",
    .en_passant = "en passant|al varco", .check = "scacco|e scacco", .mate = "matto|scacco matto|scaccomatto|e matto", .idle = "il|la",
};

static const SpokenWords dutch = {
    .files = { "Anna", "Bella", "Cesar", "David", "Eva", "Felix", "Gustav", "Hector" },
    .ranks = { "een|één", "twee", "drie", "vier", "vijf", "zes", "zeven", "acht" },
    .men = { [PAWN] = "pion", [KNIGHT] = "paard", [BISHOP] = "loper", [ROOK] = "toren", [QUEEN] = "dame|koningin", [KING] = "koning" },
    .castling = { "lange rokade|lange rochade", "korte rokade|korte rochade" },
    .from = "van", .to = "naar|op", .takes = "slaat|slaat op|neemt", .becomes = "wordt|promoveert tot|promotie tot", .en_passant = "en passant",
    .check = "schaak", .mate = "mat|schaakmat|schaak mat", .idle = "de|het|mijn",
};

static const SpokenWords portuguese = {
    .files = { "Anna|Ana", "Bella", "Cesar", "David", "Eva", "Felix", "Gustav|Gustavo", "Hector|Heitor" },
    .ranks = { "um", "dois", "três", "quatro", "cinco", "seis", "sete", "oito" },
    .men = { [PAWN] = "peão", [KNIGHT] = "cavalo", [BISHOP] = "bispo", [ROOK] = "torre", [QUEEN] = "dama|rainha", [KING] = "rei" },
    .castling = { "roque grande|grande roque", "roque pequeno|pequeno roque" },
    .from = "de", .to = "em|para|vai para", .takes = "captura|captura em|toma|toma em|por", .becomes = "promove a|vira|torna-se|igual a",
    .en_passant = "en passant", .check = "xeque|e xeque", .mate = "mate|xeque-mate|xeque mate|e mate", .idle = "o|os|meu",
};

static const SpokenWords swedish = {
    .files = { "Anna", "Bella", "Cesar", "David", "Eva", "Felix", "Gustav", "Hector" },
    .ranks = { "ett", "två", "tre", "fyra", "fem", "sex", "sju", "åtta" },
    .men = { [PAWN] = "bonde", [KNIGHT] = "springare|häst", [BISHOP] = "löpare", [ROOK] = "torn", [QUEEN] = "dam|drottning", [KING] = "kung" },
    .castling = { "lång rockad", "kort rockad" },
    .from = "från", .to = "till|på", .takes = "slår|slår på|tar", .becomes = "blir|förvandlas till", .en_passant = "en passant",
    .check = "schack|och schack", .mate = "matt|schackmatt|schack matt|och matt", .idle = "den|min",
};

static const SpokenWords danish = {
    .files = { "Anna", "Bella", "Cesar", "David", "Eva", "Felix", "Gustav", "Hector" },
    .ranks = { "en|et|én|ét", "to", "tre", "fire", "fem", "seks", "syv", "otte" },
    .men = { [PAWN] = "bonde", [KNIGHT] = "springer|hest", [BISHOP] = "løber", [ROOK] = "tårn", [QUEEN] = "dronning|dame", [KING] = "konge" },
    .castling = { "lang rokade", "kort rokade" },
    .from = "fra", .to = "til|på", .takes = "slår|slår på|tager", .becomes = "bliver|bliver til", .en_passant = "en passant",
    .check = "skak|og skak", .mate = "mat|skakmat|skak mat|og mat", .idle = "den|min",
};

static const SpokenWords norwegian = {
    .files = { "Anna", "Bella", "Cesar", "David", "Eva", "Felix", "Gustav", "Hector" },
    .ranks = { "en|ett|én", "to", "tre", "fire", "fem", "seks", "sju|syv", "åtte" },
    .men = { [PAWN] = "bonde", [KNIGHT] = "springer|hest", [BISHOP] = "løper", [ROOK] = "tårn", [QUEEN] = "dronning|dame", [KING] = "konge" },
    .castling = { "lang rokade|lang rokkade", "kort rokade|kort rokkade" },
    .from = "fra", .to = "til|på", .takes = "slår|slår på|tar", .becomes = "blir|blir til", .en_passant = "en passant",
    .check = "sjakk|og sjakk", .mate = "matt|sjakkmatt|sjakk matt|og matt", .idle = "den|min",
};

static const SpokenWords russian = {
    .files = { "Anna|Анна", "Bella|Белла", "Cesar|Цезарь", "David|Давид", "Eva|Ева", "Felix|Феликс", "Gustav|Густав", "Hector|Гектор" },
    .ranks = { "один", "два", "три", "четыре", "пять", "шесть", "семь", "восемь" },
    .men = { [PAWN] = "пешка", [KNIGHT] = "конь", [BISHOP] = "слон", [ROOK] = "ладья", [QUEEN] = "ферзь", [KING] = "король" },
    .castling = { "длинная рокировка", "короткая рокировка" },
    .from = "с|со", .to = "на", .takes = "бьёт|бьёт на|берёт|берёт на", .becomes = "становится|превращается в", .en_passant = "на проходе",
    .check = "шах|и шах", .mate = "мат|шах и мат|и мат", .idle = NULL,
};

/* FIDE Handbook, appendix C2, and the table of the PGN standard, 8.2.3.2; players of Japanese, Lao and Sesotho write English letters.
 * There is no pawn letter where it is also a file's or another man's (B of Bauer, bonde), and none is ever written. */
static const MoveLanguage languages[] = {
    { "en", { NULL, "P", "N", "B", "R", "Q", "K" }, &english },
    { "cs", { NULL, "P", "J", "S", "V", "D", "K" }, NULL },
    { "da", { NULL, NULL, "S", "L", "T", "D", "K" }, &danish },
    { "de", { NULL, NULL, "S", "L", "T", "D", "K" }, &law_e },
    { "es", { NULL, "P", "C", "A", "T", "D", "R" }, &spanish },
    { "et", { NULL, NULL, "R", "O", "V", "L", "K" }, NULL },
    { "fi", { NULL, NULL, "R", "L", "T", "D", "K" }, NULL },
    { "fr", { NULL, "P", "C", "F", "T", "D", "R" }, &french },
    { "hu", { NULL, NULL, "H", "F", "B", "V", "K" }, NULL },
    { "is", { NULL, "P", "R", "B", "H", "D", "K" }, NULL },
    { "it", { NULL, "P", "C", "A", "T", "D", "R" }, &italian },
    { "ja", { NULL, "P", "N", "B", "R", "Q", "K" }, NULL },
    { "lo", { NULL, "P", "N", "B", "R", "Q", "K" }, NULL },
    { "nb", { NULL, NULL, "S", "L", "T", "D", "K" }, &norwegian },
    { "nl", { NULL, NULL, "P", "L", "T", "D", "K" }, &dutch },
    { "nn", { NULL, NULL, "S", "L", "T", "D", "K" }, &norwegian },
    { "no", { NULL, NULL, "S", "L", "T", "D", "K" }, &norwegian },
    { "pl", { NULL, "P", "S", "G", "W", "H", "K" }, NULL },
    { "pt", { NULL, "P", "C", "B", "T", "D", "R" }, &portuguese },
    { "ro", { NULL, "P", "C", "N", "T", "D", "R" }, NULL },
    { "ru", { NULL, "п", "К", "С", "Л", "Ф", "Кр" }, &russian },
    { "st", { NULL, "P", "N", "B", "R", "Q", "K" }, NULL },
    { "sv", { NULL, NULL, "S", "L", "T", "D", "K" }, &swedish },
};

const MoveLanguage *language_table(size_t *ret_count) {
    *ret_count = sizeof languages / sizeof languages[0];
    return languages;
}

const MoveLanguage *language_english(void) {
    return &languages[0];
}

const SpokenWords *language_law_e(void) {
    return &law_e;
}

const MoveLanguage *language_find(const char *code) {
    for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++) {
        char end = text_starts_nocase(code, languages[i].code) ? code[strlen(languages[i].code)] : 'x';
        if (end == 0 || end == '-' || end == '_')
            return &languages[i];
    }
    return NULL;
}
