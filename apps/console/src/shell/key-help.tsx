import { Dialog } from "@base-ui/react/dialog";
import { shell as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import overlay from "../ui/overlay.module.css";
import { keyTable } from "./keys.ts";
import style from "./palette.module.css";

/** The list of keys. */
export function KeyHelp({ close }: { close: () => void }) {
  return (
    <Dialog.Root open onOpenChange={(open) => open || close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={overlay["backdrop"]} />
        <Dialog.Popup className={overlay["popup"]}>
          <Dialog.Title>{t.keysTitle}</Dialog.Title>
          <dl className={style["keys"]}>
            {keyTable.map(({ keys, does }) => (
              <div key={keys.join()}>
                <dt>{does}</dt>
                <dd>
                  {keys.map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
          <div className={overlay["buttons"]}>
            <Dialog.Close render={<Button />}>{t.close}</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
