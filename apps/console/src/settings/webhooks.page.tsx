import { Dialog } from "@base-ui/react/dialog";
import type { WebhookView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask, change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { common, webhooks as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { FoundList } from "../ui/found-list.tsx";
import type { Column } from "../ui/grid.tsx";
import { TwoLines, whole } from "../ui/listing.tsx";
import overlay from "../ui/overlay.module.css";
import { Remove } from "../ui/remove.tsx";
import { Scroll } from "../ui/scroll.tsx";
import { type Secret, SecretDialog } from "../ui/secret.tsx";
import { Empty, Failure, Skeleton } from "../ui/states.tsx";
import { Mark } from "../ui/status.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { toast, toastFailure } from "../ui/toast.tsx";
import { named } from "./named.ts";
import { WebhookForm } from "./webhook-form.tsx";

const pollMs = 10_000;

type Open = { readonly to: "edit" | "log"; readonly hook: WebhookView } | { readonly to: "new" };

/** Where events are sent. */
export function Webhooks() {
  const [open, setOpen] = useState<Open>();
  const [secret, setSecret] = useState<Secret>();
  const close = () => setOpen(undefined);
  return (
    <>
      <FoundList
        find={t.find}
        add={{ label: t.new, onClick: () => setOpen({ to: "new" }) }}
        label={t.columns.name}
        columns={columnsOf(setOpen)}
        rowHeight={56}
        sortable={false}
        rows={({ offset, limit, q }) => whole(named(ask(r.webhooks.list), q))(offset, limit)}
        pollMs={pollMs}
        empty={<Empty title={t.emptyTitle} text={t.text} />}
      />
      {open?.to === "new" && <WebhookForm of={undefined} close={close} made={setSecret} />}
      {open?.to === "edit" && <WebhookForm of={open.hook} close={close} made={setSecret} />}
      {open?.to === "log" && <Log hook={open.hook} close={close} />}
      {secret !== undefined && <SecretDialog of={secret} close={() => setSecret(undefined)} />}
    </>
  );
}

function StatusOf({ enabled, disabledReason, failingSince, lastError }: WebhookView) {
  const [tone, sign, word] = enabled
    ? failingSince === undefined
      ? (["ok", "✓", t.on] as const)
      : (["bad", "✕", t.failing] as const)
    : (["wait", "–", t.off] as const);
  return <TwoLines first={<Mark tone={tone} sign={sign} word={word} />} second={disabledReason ?? lastError ?? ""} />;
}

function columnsOf(open: (what: Open) => void): readonly Column<WebhookView>[] {
  const removeOf = (webhookId: number) => async () => {
    await change(r.webhooks.delete, { params: { webhookId } });
    await invalidate("webhooks");
  };
  return [
    { id: "name", head: t.columns.name, width: "minmax(170px, 1.3fr)", cell: ({ name, url }) => <TwoLines first={name} second={url} /> },
    { id: "events", head: t.columns.events, width: "130px", cell: ({ types }) => (types === undefined ? t.all : t.some(types.length)) },
    { id: "status", head: t.columns.status, width: "minmax(120px, 0.8fr)", cell: (hook) => <StatusOf {...hook} /> },
    { id: "delivered", head: t.columns.delivered, width: "110px", cell: ({ lastDeliveredAt }) => <Time at={lastDeliveredAt} /> },
    {
      id: "actions",
      head: common.actions,
      width: "290px",
      cell: (hook) => (
        <>
          <Button small look="ghost" onClick={() => open({ to: "edit", hook })}>
            {common.edit}
          </Button>
          <Button small look="ghost" onClick={() => testOf(hook.id)}>
            {t.test}
          </Button>
          <Button small look="ghost" onClick={() => open({ to: "log", hook })}>
            {t.log}
          </Button>
          <Remove name={hook.name} text={t.deleteText} row={r.webhooks.delete} run={removeOf(hook.id)} />
        </>
      ),
    },
  ];
}

/** Sends the test event, and says what came of it. */
function testOf(webhookId: number): void {
  change(r.webhooks.test, { params: { webhookId } })
    .then(async ({ delivered, ms, error, status }) => {
      if (delivered) toast(t.tested(ms));
      else toast(t.testFailed(error ?? String(status ?? "")), "bad");
      await invalidate("webhooks");
    })
    .catch(toastFailure);
}

function Log({ hook: { id, name }, close }: { hook: WebhookView; close: () => void }) {
  return (
    <Dialog.Root open onOpenChange={(open) => open || close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={overlay["backdrop"]} />
        <Dialog.Popup className={`${overlay["popup"]} ${overlay["wide"]}`}>
          <Dialog.Title>{t.logOf(name)}</Dialog.Title>
          <Deliveries webhookId={id} />
          <div className={overlay["buttons"]}>
            <Dialog.Close render={<Button />}>{t.close}</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Deliveries({ webhookId }: { webhookId: number }) {
  const { data, error, refetch } = useQuery({ ...ask(r.webhooks.deliveries, { params: { webhookId } }), refetchInterval: pollMs });
  if (data === undefined) return error === null ? <Skeleton lines={4} /> : <Failure error={error} retry={() => void refetch()} />;
  if (data.length === 0) return <p className="muted">{t.logEmpty}</p>;
  return (
    <Scroll>
      <Table columns={[t.logColumns.at, t.logColumns.type, t.logColumns.result]}>
        {data.map(({ eventId, type, subject, at, attempt, delivered, status, ms, error: text }) => (
          <tr key={`${eventId}-${attempt}`}>
            <td>
              <Time at={at} />
            </td>
            <td>
              <code>{type}</code>
              <div className="muted">{subject}</div>
            </td>
            <td>
              <Mark tone={delivered ? "ok" : "bad"} sign={delivered ? "✓" : "✕"} word={delivered ? t.taken : t.refused} />
              <div className="muted">{[status, t.took(ms), t.attempt(attempt), text].filter(Boolean).join(" · ")}</div>
            </td>
          </tr>
        ))}
      </Table>
    </Scroll>
  );
}
