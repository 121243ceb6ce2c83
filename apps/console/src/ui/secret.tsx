import { Dialog } from "@base-ui/react/dialog";
import { useState } from "react";
import { secrets as t } from "../text/en.ts";
import { Button } from "./button.tsx";
import { copyText } from "./copy.tsx";
import { Check } from "./field.tsx";
import overlay from "./overlay.module.css";
import style from "./secret.module.css";
import { Note } from "./states.tsx";

/** A secret that the server shows once. */
export interface Secret {
  readonly title: string;
  readonly secret: string;
  /** What else belongs to it, such as the client id. */
  readonly beside?: string;
}

/** Shows a secret until somebody says that it is stored; no slip of a key closes it. */
export function SecretDialog({ of: { title, secret, beside }, close }: { of: Secret; close: () => void }) {
  const [stored, setStored] = useState(false);
  return (
    <Dialog.Root open onOpenChange={(open) => open || !stored || close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={overlay["backdrop"]} />
        <Dialog.Popup className={overlay["popup"]}>
          <Dialog.Title>{title}</Dialog.Title>
          <Note tone="warn">{t.once}</Note>
          {beside !== undefined && <p>{beside}</p>}
          <code className={style["secret"]}>{secret}</code>
          <Check label={t.stored} checked={stored} onChange={setStored} />
          <div className={overlay["buttons"]}>
            <Button onClick={() => copyText(secret)}>{t.copy}</Button>
            <Button look="primary" why={stored ? undefined : t.storeFirst} onClick={close}>
              {t.close}
            </Button>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
