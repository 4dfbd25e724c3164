/** For the command line, which knows batches and not the queue below them. */
export { queueAddress, type QueueAddress } from '../../fleet/address.js';
