import type { EventType, WebhookView } from "@harrier/contracts";
import { askSeen, change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { eventWords } from "../text/en/event-types.ts";
import { common, webhooks as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Reading, type Seen, useEdits } from "../ui/edited.tsx";
import { Check, Field } from "../ui/field.tsx";
import { limits } from "../ui/limits.ts";
import type { Secret } from "../ui/secret.tsx";
import style from "./settings.module.css";

interface WebhookFormProps {
  readonly close: () => void;
  readonly made: (secret: Secret) => void;
}

const known = Object.entries(eventWords) as [EventType, string][];

/** Makes a webhook, or changes it. */
export function WebhookForm({ of, ...rest }: WebhookFormProps & { of: WebhookView | undefined }) {
  if (of === undefined) return <Known {...rest} />;
  return (
    <Reading asked={askSeen(r.webhooks.get, { params: { webhookId: of.id } })} title={of.name} close={rest.close}>
      {(seen) => <Known seen={seen} {...rest} />}
    </Reading>
  );
}

const draftOf = (of: WebhookView | undefined) => ({
  name: of?.name ?? "",
  url: of?.url ?? "",
  enabled: of?.enabled ?? true,
  all: of?.types === undefined,
  types: (of?.types ?? []) as readonly string[],
  secret: "",
});

function Known({ seen, close, made }: WebhookFormProps & { seen?: Seen<WebhookView> }) {
  const of = seen?.body;
  const { value, edit, changed, nothing } = useEdits(draftOf(of));
  const { name, url, enabled, all, types, secret } = value;
  const run = async () => {
    const chosen = { types: types as EventType[] };
    if (of) {
      const { all: _, types: some, ...texts } = changed;
      const body = { ...texts, ...(!all && (some !== undefined || of.types === undefined) && chosen) };
      await change(r.webhooks.update, { params: { webhookId: of.id }, body, ifMatch: seen?.tag });
    } else {
      const body = {
        name: name.trim(),
        url: url.trim(),
        enabled,
        ...(!all && chosen),
        ...(secret.trim() !== "" && { secret: secret.trim() }),
      };
      const [hook] = await change(r.webhooks.create, { body: [body] });
      if (hook) made({ title: t.secretOf(hook.name), secret: hook.secret });
    }
    await invalidate("webhooks");
  };
  const incomplete =
    name.trim() === "" ? common.nameFirst : url.trim() === "" ? t.urlFirst : all || types.length > 0 ? undefined : t.noTypes;
  return (
    <FormDialog
      open
      close={close}
      title={of?.name ?? t.new}
      text={t.text}
      button={of ? common.save : common.create}
      why={incomplete ?? (of && nothing)}
      run={run}
      again={seen?.again}
    >
      <Field label={common.name} value={name} onChange={(next) => edit({ name: next })} maxLength={limits.webhookName} autoFocus />
      <Field label={t.url} hint={t.urlHint} type="url" value={url} onChange={(next) => edit({ url: next })} maxLength={limits.url} />
      <Check label={t.enabled} checked={enabled} onChange={(on) => edit({ enabled: on })} />
      <fieldset className={style["area"]}>
        <legend>{t.types}</legend>
        {/* A webhook of some types cannot become one of all: absent members stay as they are. */}
        {(of === undefined || of.types === undefined) && <Check label={t.all} checked={all} onChange={(on) => edit({ all: on })} />}
        {!all &&
          known.map(([type, words]) => (
            <Check
              key={type}
              label={words}
              hint={type}
              checked={types.includes(type)}
              onChange={(on) => edit({ types: on ? [...types, type] : types.filter((one) => one !== type) })}
            />
          ))}
      </fieldset>
      <Field
        label={of ? t.newSecret : t.secret}
        hint={of ? t.newSecretHint : t.secretHint}
        value={secret}
        onChange={(next) => edit({ secret: next })}
        spellCheck={false}
      />
    </FormDialog>
  );
}
