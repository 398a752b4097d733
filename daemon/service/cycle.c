/* One cycle, and the transactions of the service. */
#include "daemon/service/service.h"

#include "daemon/service/outage.h"
#include "daemon/store/letters_in.h"

int service_begin(Service *service, Error *error) {
    if (store_begin(service->store, error) < 0)
        return -1;
    for (int i = 0; i < service->unnoted_count_; i++)
        if (letter_in_note_filed(service->store, service->unnoted_[i], error) < 0)
            return -1;
    if (service->read_at_ == 0)
        return 0;
    if (letters_in_drop_raw(service->store, service->read_at_ - (Instant)RAW_KEPT_DAYS * SECONDS_PER_DAY, error) < 0)
        return -1;
    if (store_value_set(service->store, "mailbox_unreadable", service->unreadable_, error) < 0)
        return -1;
    return store_value_set(service->store, "mailbox_read", service->read_at_, error);
}

int service_commit(Service *service, Error *error) {
    if (store_commit(service->store, error) < 0)
        return -1;
    service->unnoted_count_ = 0;
    service->read_at_ = 0;
    return 0;
}

int service_note(Service *service, Error *error) {
    if (service->unnoted_count_ == 0 && service->read_at_ == 0)
        return 0;
    if (service_begin(service, error) == 0 && service_commit(service, error) == 0)
        return 0;
    store_rollback(service->store);
    return -1;
}

int service_cycle(Service *service, CycleReport *ret_report, Error *error) {
    Error in_fault, fault;
    error_clear(&in_fault);
    error_clear(&fault);
    *ret_report = (CycleReport){ 0 };
    int in = outage_room(service, &in_fault) == 0 ? intake_run(service, ret_report, &in_fault) : -1;
    if (in < 0 && in_fault.grade == ERROR_DAMAGED)
        return error_set(error, in_fault.grade, in_fault.code, "%s", in_fault.text);
    /* Timers wait for a mailbox that was read to its end: an answer may lie in it. The queue waits for nobody. */
    if (in == 0)
        outage_folders(service);
    bool whole = service->world->source == NULL || service->read_at_ != 0;
    int timers = in < 0 || !whole ? 0 : timers_run(service, ret_report, &fault);
    int out = queue_run(service, ret_report, &fault);
    int rest = service_note(service, &fault);
    if (in < 0)
        fault = in_fault;
    if (in == 0 && timers == 0 && out == 0 && rest == 0) {
        outage_over(service, OUTAGE_DISK);
        const Error *folder = &service->folder_fault_;
        return folder->grade == ERROR_NONE ? 0 : error_set(error, folder->grade, folder->code, "%s", folder->text);
    }
    if (outage_of_disk(&fault))
        outage_failed(service, OUTAGE_DISK, fault.text);
    return error_set(error, fault.grade, fault.code, "%s", fault.text);
}
