/** Settings whose values are credentials: they are neither listed nor exported, and not shown with a request. */
const secretSetting = /gatewaytoken\.key$|password|secret/i;

/** Whether the value of a setting is a credential. */
export const isSecretSetting = (key: string): boolean => secretSetting.test(key);
